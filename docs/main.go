// Command docs brings the pages in step with the code: it rewrites the
// embedded blocks of README.md and docs/*.md and says which pages changed.
//
//	go run ./docs
package main

import (
	"fmt"
	"io"
	"os"

	"example.com/informer/01-deltafifo/workspace"
	"example.com/informer/docs/book"
)

func main() {
	os.Exit(run(".", os.Args[1:], os.Stdout, os.Stderr))
}

// run rewrites the pages of the workspace around dir and returns the exit
// code: 0 when the book is right, 1 when something is left for a person to
// mend, 2 on wrong usage.
func run(dir string, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintln(stderr,
			"usage: go run ./docs (no arguments): rewrites the embedded blocks of README.md and docs/*.md")
		return 2
	}
	root, err := workspace.Root(dir)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	changed, left, err := book.Rewrite(root)
	for _, page := range changed {
		fmt.Fprintln(stdout, "rewritten:", page)
	}
	for _, problem := range left {
		fmt.Fprintln(stderr, problem)
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, err)
		return 1
	case len(left) > 0:
		return 1
	case len(changed) == 0:
		fmt.Fprintln(stdout, "nothing to rewrite")
	}
	return 0
}
