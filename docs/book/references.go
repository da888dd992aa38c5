// Links into the book from files that are not pages: exercises and other Markdown files, comments,
// and strings of programs.

package book

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// checkReferences follows the links of all other files of the workspace.
func (b *Book) checkReferences() (found []Problem) {
	err := fs.WalkDir(b.ws, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(base, ".") && base != "." || base == "node_modules"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !followed[path.Ext(name)] || b.pages[name] != nil:
			return nil
		}
		source, err := b.readFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			found = append(found, b.checkLinks(parsePage(name, source))...)
			return nil
		}
		for _, s := range textsOf(name, source) {
			found = append(found, b.checkMentions(name, s)...)
		}
		return nil
	})
	if err != nil {
		found = append(found, pageProblem("docs", "looking for links into the book: %v", err))
	}
	return found
}

// followed are the extensions of the files whose links are followed.
var followed = map[string]bool{
	".md": true, ".go": true, ".sh": true, ".js": true, ".html": true, ".yml": true, ".yaml": true,
}

// checkLinks follows the links of a Markdown file, and the names of pages that are in backquotes.
func (b *Book) checkLinks(p *page) (found []Problem) {
	for _, l := range p.links {
		if err := b.checkLink(p, l); err != nil {
			found = append(found, p.problem(l.line, "%v", err))
		}
	}
	for _, s := range p.spans {
		found = append(found, b.checkMentions(p.name, s)...)
	}
	return found
}

// textsOf returns the texts of a file that may name a page. In Go, these are the comments, and the
// strings unless the file is a test: tests have pages of their own.
func textsOf(name string, source []byte) (texts []span) {
	if path.Ext(name) != ".go" {
		for i, line := range strings.Split(string(source), "\n") {
			texts = append(texts, span{line: i, text: line})
		}
		return texts
	}
	file := token.NewFileSet().AddFile(name, -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments) // no error handler: what does not compile is found elsewhere
	for {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return texts
		case tok == token.COMMENT, tok == token.STRING && !strings.HasSuffix(name, "_test.go"):
			texts = append(texts, span{line: file.Line(pos) - 1, text: text})
		}
	}
}

// mention matches the name of a page, such as docs/README.md, or of a section, with or without the
// folder, such as README.md#the-book.
var mention = regexp.MustCompile(`\b(docs/)?([\w/-]+\.md)(#[\pL\pN_-]+)?`)

// checkMentions finds names of pages and sections that do not exist.
func (b *Book) checkMentions(name string, s span) (found []Problem) {
	for _, m := range mention.FindAllStringSubmatch(s.text, -1) {
		folder, page, fragment := m[1], path.Join("docs", m[2]), strings.TrimPrefix(m[3], "#")
		if folder == "" && (fragment == "" || strings.Contains(m[2], "/")) {
			continue // it is not a page of the book
		}
		var err error
		if b.pages[page] == nil {
			err = fmt.Errorf("there is no %s", page)
		} else if fragment != "" {
			err = b.checkFragment(page, fragment)
		}
		if err != nil {
			text := fmt.Sprintf("dead link %s: %v", m[0], err)
			found = append(found, Problem{Page: name, Line: s.line + 1, Text: text})
		}
	}
	return found
}
