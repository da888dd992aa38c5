// Package book embeds code and output into the pages of the workspace, and checks their blocks,
// links and claims. It also finds sections by the words in them, counts words, and computes how long
// pages take.
package book

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a page, or with a file that links to one.
type Problem struct {
	Page string // the page or the file, from the workspace root
	Line int    // from 1; 0 for a problem of the whole page
	Text string
}

// Error returns the problem in one line, which begins with the page and the line number.
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Page, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.Page, p.Line, p.Text)
}

// Book is the pages of a workspace, as they were when loaded.
type Book struct {
	ws    fs.FS            // the workspace root; everything is read through it
	pages map[string]*page // by name

	// The targets of links are parsed once, because hundreds of links lead to the same file.
	linked map[string]*page    // other Markdown files of the workspace, by name
	tests  map[string]testFile // test files, by name

	subtests map[string]map[string]bool // names of subtests, by pattern of files

	sections []searchable // what Find looks at; nil before the first call
}

// PageNames returns the names of all pages of the workspace ws: README.md, and the Markdown files
// in docs and its folders, except for docs/lab.
func PageNames(ws fs.FS) (names []string, err error) {
	err = fs.WalkDir(ws, ".", func(name string, entry fs.DirEntry, err error) error {
		inDocs := name == "docs" || strings.HasPrefix(name, "docs/")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (!inDocs || name == "docs/lab"):
			return fs.SkipDir
		case name == "README.md" || inDocs && !entry.IsDir() && path.Ext(name) == ".md":
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// Load reads the pages of the workspace ws. Load returns no error for a page that is missing, or
// that cannot be read: Problems reports it.
func Load(ws fs.FS) (*Book, error) {
	b := &Book{ws: ws, pages: map[string]*page{}, linked: map[string]*page{}, tests: map[string]testFile{},
		subtests: map[string]map[string]bool{}}
	names, err := PageNames(ws)
	if err != nil {
		return nil, fmt.Errorf("looking for pages: %w", err)
	}
	for _, name := range names {
		text, err := b.readFile(name)
		b.pages[name] = parsePage(name, text)
		if err != nil {
			b.pages[name].problems = []Problem{pageProblem(name, "%v", err)}
		}
	}
	return b, nil
}

// Problems returns all problems of the book, sorted by page and line.
func (b *Book) Problems() []Problem {
	all := slices.Concat(b.checkShape(), b.checkReferences(), b.checkFolders())
	for _, p := range b.pages {
		_, stale, broken := b.render(p)
		_, wrong, uncountable := b.renderFigures(p)
		all = slices.Concat(all, stale, broken, wrong, uncountable, b.checkLinks(p))
	}
	slices.SortFunc(all, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Page, y.Page), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Text, y.Text))
	})
	return all
}

// Rewrite updates the embedded blocks of all pages below root, then the figures, which count lines of
// these blocks, and the README.md of each chapter. It prints which files it has changed. It does not
// change the blocks of a page with a broken directive, or with code that was typed into the page. The
// error has a line for each problem that is left for a person.
func Rewrite(root string, stdout io.Writer) error {
	b, err := Load(os.DirFS(root))
	if err != nil {
		return err
	}
	for _, render := range []func(*page) (string, []Problem, []Problem){b.render, b.renderFigures} {
		for _, name := range slices.Sorted(maps.Keys(b.pages)) {
			text, stale, _ := render(b.pages[name])
			if len(stale) == 0 {
				continue
			}
			if err := rewriteFile(root, name, text, stdout); err != nil {
				return err
			}
			b.pages[name] = parsePage(name, []byte(text))
		}
	}
	folderPages, _ := b.folderPages() // Problems returns what is wrong with them
	for _, name := range slices.Sorted(maps.Keys(folderPages)) {
		if old, err := b.readFile(name); err == nil && string(old) == folderPages[name] {
			continue
		}
		if err := rewriteFile(root, name, folderPages[name], stdout); err != nil {
			return err
		}
	}
	for _, problem := range b.Problems() {
		err = errors.Join(err, problem)
	}
	return err
}

// rewriteFile writes a file, and prints its name.
func rewriteFile(root, name, text string, stdout io.Writer) error {
	if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("rewriting a page: %w", err)
	}
	fmt.Fprintln(stdout, "rewritten:", name)
	return nil
}
