// The versions of an exercise's file: the book's, the one that the exercise starts with, and the
// reader's.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/informer/scripts/harness/hunk"
)

// toWrite is the body of a function that the reader has to write.
const toWrite = "{\n\tpanic(\"yours to write\")\n}"

// begin returns the book's text as the reader gets it at the start.
func (e exercise) begin(book string) (string, error) {
	if e.plant != "" {
		return apply(book, e.plant)
	}
	text := book
	for _, name := range e.empty {
		f, err := findFunction(text, name)
		if err != nil {
			return "", err
		}
		text = text[:f.body] + toWrite + text[f.end:]
	}
	for _, name := range e.drop {
		if _, err := findFunction(text, name); err != nil {
			return "", err
		}
	}
	return tidy(transplant(text, "", e.drop), book), nil
}

// apply applies a difference to a text of the book. The lines before the change must be in the text
// exactly once.
func apply(text, difference string) (string, error) {
	changed, err := hunk.Apply(text, difference)
	if err != nil {
		return "", err
	}
	return tidy(changed, text), nil
}

// versions are three versions of an exercise's file.
type versions struct {
	mine    string   // the reader's, as it is now
	book    string   // the book's
	started string   // the book's, after the start of the exercise
	names   []string // of the declarations that the start changes
}

// versions returns the versions of the exercise's file.
func (e exercise) versions(root string) (v versions, err error) {
	mine, err := os.ReadFile(filepath.Join(root, e.file))
	if err != nil {
		return v, err
	}
	v.mine = string(mine)
	v.book, err = git(root, "show", bookCommit(root)+":"+e.file)
	if err != nil {
		return v, err
	}
	v.started, err = e.begin(v.book)
	v.names = changedNames(v.book, v.started)
	return v, err
}

// isReaders reports whether the reader has written something where the exercise is.
func (v versions) isReaders() bool {
	return !same(v.mine, v.book, v.names) && !same(v.mine, v.started, v.names)
}

// keep keeps the reader's version of the exercise's file in git, if the reader has written
// something where the exercise is.
func (e exercise) keep(root string, v versions) (kept bool, err error) {
	if !v.isReaders() {
		return false, nil
	}
	id, err := gitWithInput(root, v.mine, "hash-object", "-w", "--stdin")
	if err != nil {
		return false, err
	}
	_, err = git(root, "update-ref", "--create-reflog", e.ref(readers), strings.TrimSpace(id))
	return true, err
}

// writeWhole replaces the text of the reader's file in one step. If that fails, or if this program
// is killed meanwhile, the file has its old text.
func writeWhole(name, text string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".practice-*") // go does not read such a file
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // after the rename, it is not there
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}

// withBooks returns the reader's text with these declarations of the book. The lines of all others
// keep their numbers.
func withBooks(text, book string, names []string) string {
	missing := "" // goes to the end
	for _, name := range names {
		if _, ok := find(text, name); !ok && textOf(book, name) != "" {
			missing += "\n" + textOf(book, name) + "\n"
		}
	}
	for _, d := range slices.Backward(declarations(text)) { // so that the lines above have their own numbers
		if wanted := textOf(book, d.name); wanted != "" && slices.Contains(names, d.name) {
			text = text[:d.begin] + wanted + nextLine(text, d.end) + text[d.end:]
		}
	}
	lines := strings.Count(text, "\n")
	header, rest := withImports(text+missing, book)
	if strings.Count(header+rest, "\n") == lines+strings.Count(missing, "\n") {
		return header + rest
	}
	end := len(text) + len(missing) - len(rest) // of the header in text
	return header + nextLine(text, end) + rest
}

// nextLine returns a comment for the compiler. It says that the line after it has the number of the
// line after this offset.
func nextLine(text string, offset int) string {
	return fmt.Sprintf("\n//line :%d:1", lineOf(text, offset)+1)
}

// lineOf returns the number of the line at an offset of the text.
func lineOf(text string, offset int) int {
	return strings.Count(text[:offset], "\n") + 1
}
