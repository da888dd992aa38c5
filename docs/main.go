// Command docs rewrites the blocks of code and output that README.md and docs/*.md embed, and says
// which pages it has changed.
//
//	go run ./docs
package main

import (
	"flag"
	"fmt"
	"os"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/workspace"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./docs\n\n"+
			"It rewrites the code and the output that README.md and docs/*.md embed, and says what else is wrong.")
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "docs: it takes no argument, and got %q\n", flag.Args())
		flag.Usage()
		os.Exit(2)
	}
	if err := rewriteBook(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rewriteBook rewrites the book of the workspace that contains the current folder.
func rewriteBook() error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	if err := workspace.Whole(root); err != nil {
		return err
	}
	return book.Rewrite(root, os.Stdout)
}
