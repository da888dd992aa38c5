// Where the reader is, and what is next.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// state returns the state of an exercise.
func (p *practice) state(e exercise) string { return e.state(p.root) }

// inState returns those of the exercises that are in a state.
func (p *practice) inState(exercises []exercise, state string) []exercise {
	now := states(p.root)
	return filter(exercises, func(e exercise) bool { return now[e.name] == state })
}

// solved returns those of the exercises that were solved once.
func (p *practice) solved(exercises []exercise) []exercise {
	once := solvedOnce(p.root)
	return filter(exercises, func(e exercise) bool { return once[e.name] })
}

// rest returns those of the exercises that are left: they are not open, and were never solved.
func (p *practice) rest(exercises []exercise) []exercise {
	once := solvedOnce(p.root)
	return filter(p.inState(exercises, untouched), func(e exercise) bool { return !once[e.name] })
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
		done := len(p.solved(chapter))
		bar := strings.Repeat("#", done) + strings.Repeat(".", len(chapter)-done)
		p.printf("  %-20s %2d of %2d  %s\n", chapter[0].chapter, done, len(chapter), bar)
	}
	opened := p.inState(p.all, open)
	for _, e := range opened {
		p.printf("\nOpen: %s\n      %s\n", describe(e), strings.Join(p.places(e), "\n      "))
	}
	if len(opened) > 0 {
		p.printf("\nThen: scripts/practice.sh check (or: watch, hint, solution; next shows the task again)\n")
		return
	}
	p.printNext()
}

// describe returns a line about an exercise.
func describe(e exercise) string {
	line := fmt.Sprintf("%s (%s, about %s minutes, %s", e.name, e.kind, e.minutes, e.difficulty)
	if e.needsCluster {
		line += ", needs a cluster"
	}
	return line + "): " + e.title
}

// printNext prints which exercise is next.
func (p *practice) printNext() {
	if opened := p.inState(p.all, open); len(opened) > 0 {
		p.printf("Next:        %s is open: %s\n", opened[0].name, strings.Join(p.places(opened[0]), ", "))
		return
	}
	rest := p.rest(p.all)
	if len(rest) == 0 {
		p.printf("All %d exercises are solved. Your informer is complete.\n", len(p.all))
		return
	}
	p.printf("\nNext: %s\n      scripts/practice.sh next starts it\n", describe(rest[0]))
}

// next shows the exercise that is open, or starts the next one in the order of the book.
func (p *practice) next() error {
	if opened := p.inState(p.all, open); len(opened) > 0 {
		p.printTask(opened[0])
		return nil
	}
	rest := p.rest(p.all)
	if len(rest) == 0 {
		p.printNext()
		return nil
	}
	return p.start(rest[0])
}

// list prints the exercises by chapter, and how much of the course the reader has written.
func (p *practice) list() {
	now, once := states(p.root), solvedOnce(p.root)
	functions, written, fixed := 0, 0, 0
	for _, chapter := range p.chapters() {
		p.printf("\n%s\n", chapter[0].chapter)
		for _, e := range chapter {
			functions += len(e.empty)
			if once[e.name] {
				written += len(e.empty)
				if e.kind == fix {
					fixed++
				}
			}
			state, cluster := now[e.name], ""
			if state == untouched && once[e.name] {
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
// file.
func (p *practice) findPlaces(e exercise) (all []place) {
	text, _ := os.ReadFile(filepath.Join(p.root, e.file)) // without it, there are no lines
	for _, name := range e.empty {
		if d, err := findFunction(string(text), name); err == nil {
			all = append(all, place{e.file, lineOf(string(text), d.body) + 1, name})
		}
	}
	if len(all) == 0 {
		all = []place{{File: e.file}}
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
	Solved bool    `json:"solved,omitempty"` // once: it stays when the exercise is reset, or started again
	Places []place `json:"places"`
}

// listJSON prints a JSON array with all exercises.
func (p *practice) listJSON() error {
	now, once := states(p.root), solvedOnce(p.root)
	all := []listed{}
	for _, e := range p.all {
		page := path.Join(e.chapter, "practice", e.name+".md")
		all = append(all, listed{e.name, page, e.kind, now[e.name], once[e.name], p.findPlaces(e)})
	}
	return json.NewEncoder(p.out).Encode(all)
}
