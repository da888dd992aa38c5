// Reading the exercises.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The kinds of an exercise.
const (
	write = "write" // the reader writes functions
	fix   = "fix"   // the reader finds a bug
)

// An exercise is practice/NAME.md of a chapter, and practice/answers/NAME.md, which the reader
// should not see.
type exercise struct {
	name         string
	chapter      string
	title        string
	kind         string // write or fix
	minutes      string // how many it takes, about
	difficulty   string // easy, medium or hard
	task         string // the text of the exercise's page, without the checks
	checks       []command
	needsCluster bool

	file      string   // the path of the file to change, from the root
	empty     []string // write: functions whose bodies are removed
	drop      []string // write: functions that are removed as a whole
	plant     string   // fix: the difference that plants the bug
	failsWith string   // a text that a check prints directly after the start
	hints     []string
	why       string   // the explanation of the book's code
	wrong     []string // differences to the book's code that a reader may come to; the most tempting one is the first
}

// filter returns the exercises that keep returns true for.
func filter(all []exercise, keep func(exercise) bool) []exercise {
	return slices.DeleteFunc(slices.Clone(all), func(e exercise) bool { return !keep(e) })
}

// load reads the exercises of all chapters.
func load(root string) (all []exercise, err error) {
	files, err := fs.Glob(os.DirFS(root), "[0-9][0-9]-*/practice/*.md") // the root may have a pattern in its name
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		e, err := parse(filepath.Join(root, file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, e)
	}
	inBooksOrder(root, all)
	for i, e := range all { // one that is started stays as it was, whatever the reader pulls
		started, err := parse(filepath.Join(root, e.folder(), e.chapter, "practice", e.name+".md"))
		if err == nil {
			all[i] = started
		}
	}
	return all, nil
}

var (
	fence       = regexp.MustCompile("(?ms)^```[a-z]+\n(.*?)^```$")
	hintNumber  = regexp.MustCompile(`(?m)^\d\. `)
	heading     = regexp.MustCompile(`(?m)^## `)
	inBackticks = regexp.MustCompile("`([^`]+)`")
	effort      = regexp.MustCompile(`(?m)^About (\d+) minutes, (easy|medium|hard)\.$`)
)

// A section is a part of a page, below a heading.
type section struct {
	title string
	text  string
	block string // the first block of code in the text, or ""
}

// sections splits a page into its sections. The first one has the text above the first heading.
func sections(page string) (all []section) {
	for _, part := range heading.Split(page, -1) {
		title, text, _ := strings.Cut(part, "\n")
		s := section{title: title, text: strings.TrimSpace(text)}
		if match := fence.FindStringSubmatch(text); match != nil {
			s.block = match[1]
		}
		all = append(all, s)
	}
	return all
}

// parse reads the two pages of an exercise. file is practice/NAME.md.
func parse(file string) (exercise, error) {
	practice, name := filepath.Split(file)
	page, err := os.ReadFile(file)
	if err != nil {
		return exercise{}, err
	}
	answers, err := os.ReadFile(filepath.Join(practice, "answers", name))
	if err != nil {
		return exercise{}, err
	}
	task := strings.TrimSpace(heading.Split(string(page), 2)[0])
	firstLine, _, _ := strings.Cut(task, "\n")
	e := exercise{
		name:    strings.TrimSuffix(name, ".md"),
		chapter: filepath.Base(filepath.Dir(filepath.Clean(practice))),
		title:   strings.TrimPrefix(firstLine, "# "),
		task:    task,
	}
	if match := effort.FindStringSubmatch(task); match != nil {
		e.minutes, e.difficulty = match[1], match[2]
	}
	for _, s := range append(sections(string(page)), sections(string(answers))...) {
		if err := e.addSection(s); err != nil {
			return exercise{}, err
		}
	}
	return e, e.validate()
}

// addSection sets the fields of the exercise that a section describes.
func (e *exercise) addSection(s section) error {
	switch {
	case s.title == "Check":
		e.needsCluster = strings.Contains(s.text, "needs a cluster")
		for line := range strings.Lines(s.block) {
			c, err := parseCommand(strings.TrimSpace(line))
			if err != nil {
				return err
			}
			e.checks = append(e.checks, c)
		}
	case s.title == "Start":
		e.addStart(s)
	case s.title == "Fails with":
		e.failsWith = strings.TrimSpace(s.block)
	case s.title == "Hints":
		for _, text := range hintNumber.Split(s.text, -1)[1:] {
			e.hints = append(e.hints, strings.Join(strings.Fields(text), " "))
		}
	case s.title == "Why":
		e.why = s.text
	case strings.HasPrefix(s.title, "Wrong: "):
		e.wrong = append(e.wrong, s.block)
	}
	return nil
}

// addStart reads the section Start. For an exercise to write, it is "Empty `f` and `g` of `file`;
// drop `h`." For an exercise to fix, it is "In `file`:" and a difference.
func (e *exercise) addStart(s section) {
	e.kind, e.plant = write, s.block
	if s.block != "" {
		e.kind = fix
	}
	sentence, _, _ := strings.Cut(s.text, "```")
	sentence, dropped, _ := strings.Cut(sentence, "; drop ")
	names := quotedNames(sentence)
	if len(names) == 0 {
		return
	}
	last := len(names) - 1
	e.empty, e.file, e.drop = names[:last], names[last], quotedNames(dropped)
}

// validate returns an error if a part of the exercise is missing.
func (e *exercise) validate() error {
	hasStart := e.plant != "" || len(e.empty) > 0
	if len(e.checks) == 0 || !hasStart || e.failsWith == "" || e.why == "" || len(e.hints) != 3 {
		return errors.New("a part is missing: Check, Start, Fails with, three Hints, Why")
	}
	if len(e.wrong) == 0 {
		return errors.New("a wrong answer is missing")
	}
	if e.minutes == "" {
		return errors.New(`a line like "About 15 minutes, easy." is missing`)
	}
	return nil
}

// quotedNames returns the names in backticks.
func quotedNames(text string) (names []string) {
	for _, match := range inBackticks.FindAllStringSubmatch(text, -1) {
		names = append(names, match[1])
	}
	return names
}
