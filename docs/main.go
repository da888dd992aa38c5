// Command docs brings the pages in step with the code: it rewrites the
// embedded blocks of README.md and docs/*.md and says which pages changed.
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
	root, err := workspace.Root(".")
	if err == nil {
		err = workspace.Whole(root)
	}
	if err == nil {
		err = book.Rewrite(root, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
