// Directives: the comments on a page that say what to embed below them.

package book

import (
	"errors"
	"fmt"
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
	line, end int    // its first and last line: the same one, unless it is wrong
	text      string // without the marks of a comment
	verb      string // code or output
	file      string // slash-separated, from the workspace root
	names     []string
	fence     *fence // nil when there is no block yet
	err       error  // what is wrong with it as written; it owns its block all the same
}

var (
	directiveStart = regexp.MustCompile(`<!--\s*(code|output)\b`)
	directiveForm  = regexp.MustCompile(`^<!--\s*((code|output)\s+([^\s<>]+)((?:\s+[\pL_][\pL\pN_.]*)*))\s*-->\s*$`)

	errForm = errors.New("a directive stands alone on its line, from the first column: " +
		"write <!-- code FILE NAME… --> or <!-- output FILE -->")
)

func isDirective(comment string) bool { return directiveStart.MatchString(comment) }

func parseDirective(line string) *directive {
	m := directiveForm.FindStringSubmatch(line)
	if m == nil {
		return &directive{err: errForm}
	}
	d := &directive{text: m[1], verb: m[2], file: m[3], names: strings.Fields(m[4])}
	dir := path.Dir(d.file)
	switch {
	case d.verb == "output" && len(d.names) > 0:
		d.err = errForm
	case d.verb == "output" && (path.Ext(d.file) != ".txt" || path.Base(dir) != "testdata" && path.Dir(dir) != "docs/lab"):
		d.err = fmt.Errorf("%s is not an output: "+
			"those are expected, in testdata/*.txt, or measured, in docs/lab/*/*.txt", d.file)
	case len(d.names) > 0 && path.Ext(d.file) != ".go":
		d.err = fmt.Errorf("%s is not a Go file: it is embedded whole, name nothing in it", d.file)
	}
	return d
}

// language returns the language of the block: GitHub knows it by the file's extension.
func (d *directive) language() string {
	if ext := strings.TrimPrefix(path.Ext(d.file), "."); ext != "" && ext != "txt" {
		return ext
	}
	return "text"
}
