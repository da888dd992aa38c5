// How the declarations of a Go file are found, compared and replaced.

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A declaration is a function, or a group of types, variables or constants, in the text of a Go
// file. The places are offsets in the text.
type declaration struct {
	name  string // Type.method of a method, the first name of a group
	begin int    // of its comment, or of the declaration if it has none
	body  int    // of a function; 0 of a group
	end   int
}

// declarations returns the declarations of a text, without its imports. It finds them even if the
// text is not valid Go: the reader may be in the middle of a change.
func declarations(text string) (all []declaration) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return declarationsByLines(text)
	}
	for _, decl := range file.Decls {
		// The offset in the only file is its position minus one.
		d := declaration{begin: int(decl.Pos()) - 1, end: int(decl.End()) - 1}
		var doc *ast.CommentGroup
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d.name, doc = functionName(text, decl), decl.Doc
			if decl.Body != nil {
				d.body = int(decl.Body.Pos()) - 1
			}
		case *ast.GenDecl:
			if decl.Tok == token.IMPORT || len(decl.Specs) == 0 {
				continue
			}
			d.name, doc = groupName(decl), decl.Doc
		}
		if doc != nil {
			d.begin = int(doc.Pos()) - 1
		}
		restOfLine, _, _ := strings.Cut(text[d.end:], "\n") // a comment behind the declaration
		d.end += len(restOfLine)
		all = append(all, d.withOwnName(text))
	}
	return all
}

// withOwnName returns the declaration with its text as its name if there may be several of its name.
func (d declaration) withOwnName(text string) declaration {
	if d.name == "_" || d.name == "init" {
		d.name = text[d.begin:d.end]
	}
	return d
}

// syntaxError returns an error if the text of a file is not valid Go. It says where that is, and
// what the reader can do.
func syntaxError(file, text string) error {
	_, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) {
		err = list[0] // the others often follow from it
	}
	if err != nil {
		err = fmt.Errorf("%w. The file is not valid Go, and nothing has changed: "+
			"correct this line, or reset the exercise that it belongs to", err)
	}
	return err
}

// placesBeside returns file:line of the declarations in the other files of a file's folder, by
// name. Tests are left out.
func placesBeside(root, file string) map[string]string {
	places := map[string]string{}
	folder := filepath.Dir(file)
	entries, _ := os.ReadDir(filepath.Join(root, folder)) // without the folder, nothing is beside the file
	for _, entry := range entries {
		other := filepath.Join(folder, entry.Name())
		if other == file || filepath.Ext(other) != ".go" || strings.HasSuffix(other, "_test.go") {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(root, other))
		for _, d := range declarations(string(text)) {
			places[d.name] = fmt.Sprintf("%s:%d", other, lineOf(string(text), d.begin))
		}
	}
	return places
}

var identifier = regexp.MustCompile(`\w+`)

// functionName returns the name of a function, or Type.method.
func functionName(text string, f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type // such as *Type or Type[T]
	return identifier.FindString(text[receiver.Pos()-1:receiver.End()-1]) + "." + f.Name.Name
}

// groupName returns the first name that a group declares.
func groupName(group *ast.GenDecl) string {
	switch spec := group.Specs[0].(type) {
	case *ast.TypeSpec:
		return spec.Name.Name
	case *ast.ValueSpec:
		return spec.Names[0].Name
	default:
		return ""
	}
}

// declarationLine matches the beginning of a declaration, as gofmt writes it, with its comment.
var declarationLine = regexp.MustCompile(
	`(?m)^(?://.*\n)*(?:func (?:\(\w* ?\*?(\w+)[^)]*\) )?|(?:type|var|const) (?:\(\n\t)?)(\w+)`)

// declarationsByLines returns the declarations of a text that is not valid Go. Each one reaches up
// to the next one.
func declarationsByLines(text string) (all []declaration) {
	matches := declarationLine.FindAllStringSubmatchIndex(text, -1)
	for i, m := range matches {
		d := declaration{name: text[m[4]:m[5]], begin: m[0], end: len(text)}
		if m[2] >= 0 {
			d.name = text[m[2]:m[3]] + "." + d.name
		}
		if i+1 < len(matches) {
			d.end = matches[i+1][0]
		}
		d.end = d.begin + len(strings.TrimRight(text[d.begin:d.end], "\n"))
		all = append(all, d.withOwnName(text))
	}
	return all
}

// find returns the declaration of this name.
func find(text, name string) (declaration, bool) {
	all := declarations(text)
	i := slices.IndexFunc(all, func(d declaration) bool { return d.name == name })
	if i < 0 {
		return declaration{}, false
	}
	return all[i], true
}

// findFunction returns the function of this name.
func findFunction(text, name string) (declaration, error) {
	d, ok := find(text, name)
	if !ok || d.body == 0 {
		return d, fmt.Errorf("it has no function %s", name)
	}
	return d, nil
}

// textOf returns the text of a declaration, or "" if there is none of this name.
func textOf(text, name string) string {
	d, _ := find(text, name)
	return text[d.begin:d.end]
}

// changedNames returns the names of the declarations that are not the same in two texts.
func changedNames(a, b string) (names []string) {
	inA, inB := textsOf(a), textsOf(b)
	for _, d := range append(declarations(a), declarations(b)...) {
		if inA[d.name] != inB[d.name] && !slices.Contains(names, d.name) {
			names = append(names, d.name)
		}
	}
	return names
}

// textsOf returns the texts of all declarations, by name.
func textsOf(text string) map[string]string {
	all := map[string]string{}
	for _, d := range declarations(text) {
		all[d.name] = text[d.begin:d.end]
	}
	return all
}

// same reports whether these declarations are the same in two texts.
func same(a, b string, names []string) bool {
	inA, inB := textsOf(a), textsOf(b)
	return !slices.ContainsFunc(names, func(name string) bool { return inA[name] != inB[name] })
}

// transplant returns the text with these declarations as they are in source, and with all that they
// need of source: other declarations that the text does not have, and imports. A declaration that
// source does not have is removed. Everything else stays.
func transplant(text, source string, names []string) string {
	names = slices.Clone(names)
	for i := 0; i < len(names); i++ { // names grows
		there, inText := find(text, names[i])
		wanted := textOf(source, names[i])
		switch {
		case inText && wanted != "":
			text = text[:there.begin] + wanted + text[there.end:]
		case inText:
			text = strings.TrimRight(text[:there.begin], "\n") + text[there.end:]
		case wanted != "":
			at := placeFor(text, source, names[i])
			text = text[:at] + "\n\n" + wanted + text[at:]
		}
		names = append(names, needed(wanted, text, source, names)...)
	}
	return tidy(text, source)
}

var comment = regexp.MustCompile(`//.*`)

// needed returns the names of the declarations that source has, text does not have, and the code
// mentions, without those that are known already.
func needed(code, text, source string, known []string) (names []string) {
	words := identifier.FindAllString(comment.ReplaceAllString(code, ""), -1)
	has := textsOf(text)
	for _, d := range declarations(source) {
		method := d.name[strings.LastIndex(d.name, ".")+1:] // or a function, or a type
		if has[d.name] == "" && slices.Contains(words, method) && !slices.Contains(known, d.name) {
			names = append(names, d.name)
		}
	}
	return names
}

// placeFor returns the offset in text at which a declaration of source belongs: behind the nearest
// one before it that text has, or at the end.
func placeFor(text, source, name string) int {
	place := len(strings.TrimRight(text, "\n"))
	ends := map[string]int{}
	for _, d := range declarations(text) {
		ends[d.name] = d.end
	}
	for _, d := range declarations(source) {
		if d.name == name {
			break
		}
		if end, ok := ends[d.name]; ok {
			place = end
		}
	}
	return place
}
