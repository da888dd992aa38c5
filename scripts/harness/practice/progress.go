// Where the reader is, and what is next.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func (p *practice) stateOf(e exercise) string {
	switch {
	case !p.isStarted(e):
		return untouched
	case p.state.Exercises[e.name].Passed:
		return solved
	default:
		return open
	}
}

func (p *practice) inState(state string) []exercise {
	return filter(p.all, func(e exercise) bool { return p.stateOf(e) == state })
}

// wasSolved reports whether an exercise was solved once.
func (p *practice) wasSolved(e exercise) bool { return p.state.Exercises[e.name].Solved }

// rest returns the exercises that are left: they are not open, and were never solved.
func (p *practice) rest() []exercise {
	return filter(p.inState(untouched), func(e exercise) bool { return !p.wasSolved(e) })
}

// chapters returns the exercises of each chapter.
func (p *practice) chapters() (all [][]exercise) {
	for _, e := range p.all {
		last := len(all) - 1
		if last < 0 || all[last][0].chapter != e.chapter {
			all = append(all, nil)
			last++
		}
		all[last] = append(all[last], e)
	}
	return all
}

// status prints how far the reader is in each chapter, what is open, and what is next.
func (p *practice) status() {
	p.printf("Exercises, by chapter (scripts/practice.sh list has their names):\n\n")
	for _, chapter := range p.chapters() {
		done := len(filter(chapter, p.wasSolved))
		bar := strings.Repeat("#", done) + strings.Repeat(".", len(chapter)-done)
		p.printf("  %-20s %2d of %2d  %s\n", chapter[0].chapter, done, len(chapter), bar)
	}
	opened := p.inState(open)
	for _, e := range opened {
		p.printf("\nOpen: %s\n      %s\n", describe(e), strings.Join(p.places(e), "\n      "))
	}
	if len(opened) > 0 {
		p.printf("\nThen: scripts/practice.sh check (or: watch, hint, solution; next shows the task again)\n")
		return
	}
	p.printNext()
}

func describe(e exercise) string {
	line := fmt.Sprintf("%s (%s, about %s minutes, %s", e.name, e.kind, e.minutes, e.difficulty)
	if e.needsCluster {
		line += ", needs a cluster"
	}
	return line + "): " + e.title
}

func (p *practice) printNext() {
	if opened := p.inState(open); len(opened) > 0 {
		p.printf("Next:        %s is open: %s\n", opened[0].name, strings.Join(p.places(opened[0]), ", "))
		return
	}
	rest := p.rest()
	if len(rest) == 0 {
		p.printf("All %d exercises are solved. Your informer is complete.\n", len(p.all))
		return
	}
	p.printf("\nNext: %s\n      scripts/practice.sh next starts it\n", describe(rest[0]))
}

// next shows the exercise that is open, or starts the next one in the order of the book.
func (p *practice) next() error {
	if opened := p.inState(open); len(opened) > 0 {
		p.printTask(opened[0])
		return nil
	}
	rest := p.rest()
	if len(rest) == 0 {
		p.printNext()
		return nil
	}
	return p.start(rest[0])
}

// list prints the exercises by chapter, and how much of the course the reader has written.
func (p *practice) list() {
	functions, written, fixed := 0, 0, 0
	for _, chapter := range p.chapters() {
		p.printf("\n%s\n", chapter[0].chapter)
		for _, e := range chapter {
			functions += len(e.empty)
			if p.wasSolved(e) {
				written += len(e.empty)
				if e.kind == fix {
					fixed++
				}
			}
			state, cluster := p.stateOf(e), ""
			if state == untouched && p.wasSolved(e) {
				state = solved
			}
			if e.needsCluster {
				cluster = " (needs a cluster)"
			}
			p.printf("  %-6s %-5s %-16s %3s min, %-6s  %s%s\n",
				state, e.kind, e.name, e.minutes, e.difficulty, e.title, cluster)
		}
	}
	p.printf("\n%d of the %d functions to write are yours; %d bugs are fixed\n", written, functions, fixed)
}

// A place is where the reader's code for an exercise goes.
type place struct {
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`     // of the first line of the body
	Function string `json:"function,omitempty"` // which the reader writes
}

func (p place) String() string {
	if p.Function == "" {
		return p.File
	}
	return fmt.Sprintf("%s:%d (%s)", p.File, p.Line, p.Function)
}

// findPlaces returns the places of an exercise: each function to write. For a bug, it is only the
// file. Before the start, it is the file in the clone.
func (p *practice) findPlaces(e exercise) (all []place) {
	file := e.file
	if p.isStarted(e) {
		file = path.Join(e.folder(), e.file)
	}
	text, _ := os.ReadFile(filepath.Join(p.root, file)) // without it, there are no lines
	for _, f := range findFunctions(string(text)) {
		if slices.Contains(e.empty, f.name) {
			all = append(all, place{file, strings.Count(string(text[:f.body]), "\n") + 2, f.name})
		}
	}
	if len(all) == 0 {
		all = []place{{File: file}}
	}
	return all
}

// places returns the places of an exercise as texts.
func (p *practice) places(e exercise) (all []string) {
	for _, found := range p.findPlaces(e) {
		all = append(all, found.String())
	}
	return all
}

// A listed exercise is what list -json prints of an exercise, for the reading room.
type listed struct {
	Name   string  `json:"name"`
	Page   string  `json:"page"` // its path from the root
	Kind   string  `json:"kind"`
	State  string  `json:"state"`
	Folder string  `json:"folder"`           // where the reader works, after the start
	Solved bool    `json:"solved,omitempty"` // once: it stays when the exercise is reset, or started again
	Places []place `json:"places"`
}

// listJSON prints a JSON array with all exercises.
func (p *practice) listJSON() error {
	all := []listed{}
	for _, e := range p.all {
		page := path.Join(e.chapter, "practice", e.name+".md")
		all = append(all, listed{e.name, page, e.kind, p.stateOf(e), e.folder(), p.wasSolved(e), p.findPlaces(e)})
	}
	return json.NewEncoder(p.out).Encode(all)
}
