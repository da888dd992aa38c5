// The rule for blocks: no code or output is typed into a page.

package book

import (
	"regexp"
	"slices"
	"strings"
)

// typed are the languages of blocks that a person writes: pictures, commands
// to type, and small edits to try.
var typed = map[string]bool{"mermaid": true, "sh": true, "diff": true}

// diagrams are the words that a Mermaid picture starts with.
var diagrams = []string{
	"architecture-beta", "block-beta", "classDiagram", "erDiagram", "flowchart", "gantt", "gitGraph", "graph",
	"journey", "mindmap", "packet-beta", "pie", "quadrantChart", "requirementDiagram", "sankey-beta",
	"sequenceDiagram", "stateDiagram", "stateDiagram-v2", "timeline", "xychart-beta",
}

// checkBlocks finds code and output that was typed in, and pictures that
// Mermaid would refuse.
func (p *page) checkBlocks() []Problem {
	var found []Problem
	for _, f := range p.fences {
		switch {
		case f.owned:
		case !typed[f.lang]:
			found = append(found, p.problem(f.start, "no code or output is typed into a page: put <!-- code … --> or <!-- output … --> on the line above this %q block (only mermaid, sh and diff are typed)", f.lang))
		case f.lang == "mermaid":
			found = append(found, p.checkMermaid(f)...)
		}
	}
	return slices.Concat(found, p.checkIndented(), p.checkPre())
}

func (p *page) checkMermaid(f *fence) []Problem {
	header := false // between two lines ---, where a title may stand
	for i := f.start + 1; i < f.end; i++ {
		line := strings.TrimSpace(p.lines[i])
		if line == "---" {
			header = !header
			continue
		}
		if header || line == "" || strings.HasPrefix(line, "%%") {
			continue
		}
		word, _, _ := strings.Cut(strings.ReplaceAll(line, ";", " "), " ")
		if !slices.Contains(diagrams, word) {
			return []Problem{p.problem(i, "Mermaid knows no diagram %q: a picture starts with one of %s", word, strings.Join(diagrams, ", "))}
		}
		return nil
	}
	return []Problem{p.problem(f.start, "this picture is empty")}
}

var (
	listItem = regexp.MustCompile(`^\s*([-*+]|\d{1,9}[.)])(\s|$)`)
	indented = regexp.MustCompile(`^( {4}| {0,3}\t)\s*\S`)
	preTag   = regexp.MustCompile(`(?i)<pre\b`)
)

// checkIndented finds code blocks that are made by indenting: four columns
// after a blank line, outside a list.
func (p *page) checkIndented() []Problem {
	var found []Problem
	inList, afterBlank := false, true
	for i, line := range p.lines {
		blank := strings.TrimSpace(line) == ""
		switch {
		case p.hidden[i], blank:
		case listItem.MatchString(line) && (inList || !indented.MatchString(line)):
			inList = true
		case indented.MatchString(line):
			if afterBlank && !inList {
				found = append(found, p.problem(i, "no code or output is typed into a page, not by indenting it either: embed it"))
			}
		case afterBlank:
			inList = false
		}
		afterBlank = blank || p.hidden[i]
	}
	return found
}

func (p *page) checkPre() []Problem {
	var found []Problem
	for i, line := range strings.Split(p.prose, "\n") {
		if preTag.MatchString(line) {
			found = append(found, p.problem(i, "no code or output is typed into a page, not in <pre> either: embed it"))
		}
	}
	return found
}
