// Command docs keeps the book in step with the code, and finds sections in it. Its usage says how.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/workspace"
)

const usage = `usage:
  go run ./docs               rewrite the code and the output that README.md and the pages
                              in docs embed, the minutes that pages take, and the README.md
                              of each chapter; say what else is wrong
  go run ./docs find WORDS    print the five sections that fit best, with a line of each; WORDS
                              can be a whole line of a log, in quotes
  go run ./docs report        print how many words and lines of Go each page has,
                              and how long a reader needs for it
`

// How many sections find prints.
const bestSections = 5

func main() {
	err := run(os.Args[1:], os.Stdout)
	switch {
	case errors.As(err, new(usageError)):
		fmt.Fprintf(os.Stderr, "docs: %v\n%s", err, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A usageError says what is wrong with the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

// run does what the arguments ask for.
func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("docs", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the usage
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprint(stdout, usage)
		return err
	case err != nil:
		return usageError(err.Error())
	}
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	rest := flags.Args()
	switch {
	case len(rest) == 0:
		return book.Rewrite(root, stdout)
	case rest[0] == "find" && len(rest) > 1:
		return find(root, strings.Join(rest[1:], " "), stdout)
	case rest[0] == "find":
		return usageError("find wants the words to look for")
	case rest[0] == "report" && len(rest) == 1:
		return report(root, stdout)
	default:
		return usageError(fmt.Sprintf("unknown arguments %q", rest))
	}
}

// find prints the sections that fit the words best.
func find(root, words string, stdout io.Writer) error {
	b, err := book.Load(os.DirFS(root))
	if err != nil {
		return err
	}
	sections := b.Find(words, bestSections)
	if len(sections) == 0 {
		hint := ""
		if corrected := b.Correct(words); corrected != "" {
			hint = ": did you mean " + corrected + "?"
		}
		return fmt.Errorf("find: no section of the book has any of these words: %s%s", words, hint)
	}
	for i, excerpt := range b.Excerpts(words, sections) {
		fmt.Fprintln(stdout, sections[i])
		line := ""
		for _, piece := range excerpt {
			line += piece.Text
		}
		if line != "" {
			fmt.Fprintln(stdout, "    "+line)
		}
	}
	return nil
}

// report prints how long the pages are.
func report(root string, stdout io.Writer) error {
	b, err := book.Load(os.DirFS(root))
	if err != nil {
		return err
	}
	return b.Report(stdout)
}
