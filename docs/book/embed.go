// Embedding: directives, what they show, and the page with all of it in place.

package book

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"regexp"
	"slices"
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
	line       int
	text       string // without the marks of a comment
	verb       string // code or output
	file       string // slash-separated, from the workspace root
	names      []string
	start, end int    // of the block with its two fences; the same where there is none yet
	lang       string // of the block
}

var (
	directiveStart = regexp.MustCompile(`<!--\s*(code|output)\b`)
	directiveForm  = regexp.MustCompile(`^<!--\s*((code|output)\s+([^\s<>]+)((?:\s+[\pL_][\pL\pN_.]*)*))\s*-->\s*$`)

	errForm = errors.New("a directive stands alone on its line, from the first column: " +
		"write <!-- code FILE NAME… --> or <!-- output FILE -->")
)

// render returns the text of the page with every block as its source has it,
// and the blocks that were not so. With a broken directive, or a block that
// nobody owns, it says what is broken and returns the page as it is.
func (b *Book) render(p *page) (text string, stale, broken []Problem) {
	broken = slices.Clone(p.problems)
	var out []string
	done := 0 // lines of p that are in out, or replaced
	for _, d := range p.directives {
		block, err := b.block(d)
		if err != nil {
			broken = append(broken, p.problem(d.line, "%v", err))
			continue
		}
		out = slices.Concat(out, p.lines[done:d.line+1], block)
		done = max(d.end, d.line+1)
		if !slices.Equal(p.lines[d.start:d.end], block) {
			stale = append(stale, p.problem(d.line,
				"the block below is not what `%s` gives: `go run ./docs` brings the page back in step", d.text))
		}
	}
	if len(broken) > 0 {
		return string(p.source), nil, broken
	}
	return strings.Join(append(out, p.lines[done:]...), "\n"), stale, nil
}

// block returns the lines of the fenced block that d stands for.
func (b *Book) block(d *directive) ([]string, error) {
	dir, ext := path.Dir(d.file), path.Ext(d.file)
	lang := strings.TrimPrefix(ext, ".") // GitHub knows a language by the extension of its files
	if lang == "" || lang == "txt" {
		lang = "text"
	}
	isOutput := ext == ".txt" && (path.Base(dir) == "testdata" || path.Dir(dir) == "docs/lab")
	switch {
	case d.verb == "output" && len(d.names) > 0:
		return nil, errForm
	case d.verb == "output" && !isOutput:
		return nil, fmt.Errorf("%s is not an output: "+
			"those are expected, in testdata/*.txt, or measured, in docs/lab/*/*.txt", d.file)
	case len(d.names) > 0 && ext != ".go":
		return nil, fmt.Errorf("%s is not a Go file: it is embedded whole, name nothing in it", d.file)
	case typed[d.lang] && d.lang != lang:
		return nil, fmt.Errorf("the %s block below would be replaced by `%s`: "+
			"leave a blank line between the two", d.lang, d.text)
	}
	source, err := fs.ReadFile(b.ws, d.file)
	if err != nil {
		return nil, fmt.Errorf("%w (paths start at the workspace root)", err)
	}
	content := string(source)
	if len(d.names) > 0 {
		if content, err = declarations(d.file, source, d.names); err != nil {
			return nil, err
		}
	}
	if content = strings.TrimRight(content, "\n"); content == "" {
		return nil, fmt.Errorf("%s is empty: there is nothing to show", d.file)
	}
	marker := "```"
	for strings.Contains(content, marker) {
		marker += "`"
	}
	return slices.Concat([]string{marker + lang}, strings.Split(content, "\n"), []string{marker}), nil
}

func parseGo(file string, source []byte) (*token.FileSet, *ast.File, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, parser.ParseComments|parser.SkipObjectResolution)
	return files, tree, err
}

// declarations cuts the named declarations out of a Go file, each with its doc
// comment and exactly as written, and joins them with a blank line. A method is
// named Type.Method; any name of a const, var or type group gives the group.
func declarations(file string, source []byte, names []string) (string, error) {
	files, tree, err := parseGo(file, source)
	if err != nil {
		return "", fmt.Errorf("looking for declarations: %w", err)
	}
	parts := map[string]string{} // by name
	var declared []string
	end := 0
	for _, d := range tree.Decls {
		// a comment is part of the declaration if no blank line lies between the two, or behind it on its line
		begin := max(end, bytes.LastIndex(source[:files.Position(d.Pos()).Offset], []byte("\n\n")))
		end = files.Position(d.End()).Offset
		behind, _, _ := bytes.Cut(source[end:], []byte("\n"))
		end += len(behind)
		for _, name := range Names(d) {
			parts[name] = strings.TrimSpace(string(source[begin:end]))
			declared = append(declared, name)
		}
	}
	var wanted []string
	for _, name := range names {
		part, ok := parts[name]
		if !ok {
			all := cmp.Or(strings.Join(declared, ", "), "nothing")
			return "", fmt.Errorf("%s does not declare %s; it declares %s", file, name, all)
		}
		if !slices.Contains(wanted, part) {
			wanted = append(wanted, part)
		}
	}
	return strings.Join(wanted, "\n\n"), nil
}

// Names returns the names that d declares: that of a method as Type.Method. An
// import declares none.
func Names(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		receiver, _, _ := strings.Cut(types.ExprString(d.Recv.List[0].Type), "[") // *T, T[P], T[P, Q] or (T)
		return []string{strings.Trim(receiver, "*()") + "." + d.Name.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}
