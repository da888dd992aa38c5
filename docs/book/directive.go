// Directives: the comments on a page that say what to embed below them.

package book

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// directive is one of
//
//	<!-- code FILE [NAME…] -->
//	<!-- output FILE -->
//
// alone on its line, from the first column. The fenced block on the next line
// is its own, and is replaced; where there is none, one is put there.
type directive struct {
	line  int    // counted from 0
	verb  string // code or output
	file  string // slash-separated, from the workspace root
	names []string
	fence *fence // nil when there is no block yet
	err   error  // what is wrong with it as written; it owns its block all the same
}

func (d directive) String() string {
	return strings.Join(append([]string{d.verb, d.file}, d.names...), " ")
}

// A comment is meant as a directive when it begins with one of the two words,
// or, misspelt, with a word and a path.
var (
	knownVerb = regexp.MustCompile(`<!--\s*(code|output)\b`)
	verbPath  = regexp.MustCompile(`<!--\s*\w+\s+[^\s/]+/\S+`)
	alone     = regexp.MustCompile(`^<!--\s*(\S.*\S)\s*-->\s*$`)
)

func isDirective(comment string) bool {
	return knownVerb.MatchString(comment) || verbPath.MatchString(comment)
}

const directiveForms = "write <!-- code FILE NAME… --> or <!-- output FILE -->"

var errNotAlone = errors.New("a directive stands alone on its line, from the first column: " + directiveForms)

func parseDirective(line string) directive {
	m := alone.FindStringSubmatch(line)
	if m == nil || strings.Contains(m[1], "--") {
		return directive{err: errNotAlone}
	}
	words := strings.Fields(m[1])
	if len(words) < 2 {
		return directive{err: fmt.Errorf("%s of what? %s", words[0], directiveForms)}
	}
	d := directive{verb: words[0], file: words[1], names: words[2:]}
	d.err = d.check()
	return d
}

func (d directive) check() error {
	if !fs.ValidPath(d.file) {
		return fmt.Errorf("%s is not a path from the workspace root (no leading /, no ..)", d.file)
	}
	switch d.verb {
	case "code":
		if len(d.names) > 0 && path.Ext(d.file) != ".go" {
			return fmt.Errorf("%s is not a Go file: it is embedded whole, name nothing in it", d.file)
		}
		return nil
	case "output":
		return d.checkOutput()
	}
	return fmt.Errorf("there is no directive %s: %s", d.verb, directiveForms)
}

// checkOutput holds an output to what a test compares with.
func (d directive) checkOutput() error {
	if len(d.names) > 0 {
		return fmt.Errorf("output takes one file: %s", directiveForms)
	}
	expected := path.Base(path.Dir(d.file)) == "testdata"
	measured := path.Dir(path.Dir(d.file)) == "docs"
	if path.Ext(d.file) != ".txt" || !expected && !measured {
		return fmt.Errorf("%s is not an output: those are expected, in testdata/*.txt, or measured, in docs/*/*.txt", d.file)
	}
	return nil
}
