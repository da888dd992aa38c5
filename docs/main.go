// Command docs brings the pages in step with the code: it rewrites the
// embedded blocks of README.md and docs/*.md and says which pages changed.
//
//	go run ./docs
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/workspace"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./docs (no arguments): "+
			"rewrites the embedded blocks of README.md and docs/*.md")
		os.Exit(2)
	}
	if err := run(".", os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run rewrites the pages of the workspace around dir. Its error also says, in a
// line each, what is left for a person to mend.
func run(dir string, stdout io.Writer) error {
	root, err := workspace.Root(dir)
	if err != nil {
		return err
	}
	changed, left, err := book.Rewrite(root)
	for _, page := range changed {
		fmt.Fprintln(stdout, "rewritten:", page)
	}
	for _, problem := range left {
		err = errors.Join(err, problem)
	}
	if err == nil && len(changed) == 0 {
		fmt.Fprintln(stdout, "nothing to rewrite")
	}
	return err
}
