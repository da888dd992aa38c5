// Command docs brings the pages in step with the code: it rewrites the
// embedded blocks of README.md and docs/*.md and says which pages changed.
//
//	go run ./docs
package main

import (
	"fmt"
	"os"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/workspace"
)

func main() {
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
