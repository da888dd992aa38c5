// What a check prints of the output of tests and steps.

package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

var (
	panicMark   = regexp.MustCompile(`(?m)^\s*(panic: |fatal error: )`)
	runningTest = regexp.MustCompile(`(?m)^=== (?:RUN|CONT|NAME) +(\S+)`)
	raceReport  = regexp.MustCompile(`(?s)==================\nWARNING: DATA RACE\n(.*?)\n==================\n`)
	raceAccess  = regexp.MustCompile(`(?m)^(?:Previous )?(\w+) at 0x\S+ by .*:$`)
	stackFrame  = regexp.MustCompile(`(?m)^\s*(?:created by )?(\S+)\(.*\)?\n\s+(.+\.go):(\d+)`)
	noise       = regexp.MustCompile(`^\s*(=== (RUN|PAUSE|CONT|NAME)\b.*|--- (PASS|SKIP|FAIL): .*|PASS|FAIL(\t.*)?` +
		`|ok  \t.*|exit status \d+|\(waiting for: .*|testing.go:\d+: race detected during execution of test|)$`)
)

const (
	maxLines  = 24  // of the report on one test or step; two times nine lines that are compared fit in
	maxColumn = 200 // of a line
)

// summary returns the part of a failed command's output that a reader needs. A panic and a hang
// become one line, with the function and its place. A data race becomes one line with two places.
func summary(root, text string) string {
	var races []string
	for _, match := range raceReport.FindAllStringSubmatch(text, -1) {
		if race := raceLine(root, match[1]); !slices.Contains(races, race) {
			races = append(races, race)
		}
	}
	text = raceReport.ReplaceAllString(text, "")
	text, end := cutAtPanic(root, text)
	text = strings.ReplaceAll(text, "; -update takes it as it is now", "")
	lines := slices.Concat(races, messages(text))
	for i := range lines {
		lines[i] = shorten(lines[i])
	}
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("… and %d lines more", more))
	}
	if end != "" {
		lines = append(lines, end)
	}
	return strings.Join(lines, "\n")
}

// partStart matches the first line of a part: the name of a subtest, or a panic.
var partStart = regexp.MustCompile(`(?m)^(\S+:|(panic|fatal error): .*)$`)

// parts splits a summary at its subtests and at its panic.
func parts(summary string) (all []string) {
	begin := 0
	for _, place := range append(partStart.FindAllStringIndex(summary, -1), []int{len(summary)}) {
		if part := strings.TrimRight(summary[begin:place[0]], "\n"); part != "" {
			all = append(all, part)
		}
		begin = place[0]
	}
	return all
}

// messages returns the lines of a text that say something, and a line with the name of the subtest
// above its messages. If a line with "want" is below a line that is long, it puts both into one
// line, so that shorten can compare them.
func messages(text string) (lines []string) {
	now, shown := "", "" // subtests
	before := ""         // the line above, if it is the last one of lines
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if line == before && line != "" {
			lines = append(lines, line)
			continue
		}
		before = ""
		if match := runningTest.FindStringSubmatch(line); match != nil {
			_, now, _ = strings.Cut(match[1], "/")
		}
		if noise.MatchString(line) {
			continue
		}
		if now != shown {
			shown = now
			lines = append(lines, now+":")
		}
		content, last := strings.TrimSpace(line), len(lines)-1
		if last >= 0 && strings.HasPrefix(content, "want ") && len(lines[last]) > maxColumn {
			lines[last] += ", " + content
			continue
		}
		lines, before = append(lines, line), line
	}
	return fold(lines)
}

// fold makes one line of many that are equal, one below the other. A few of them stay: they may be
// compared with others.
func fold(lines []string) (folded []string) {
	const few = 9
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n] == lines[0] {
			n++
		}
		if n > few {
			folded = append(folded, fmt.Sprintf("%s (%d times)", lines[0], n))
		} else {
			folded = append(folded, lines[:n]...)
		}
		lines = lines[n:]
	}
	return folded
}

// cutAtPanic returns the text before a panic, and one line about the panic, or "".
func cutAtPanic(root, text string) (before, panicked string) {
	place := panicMark.FindStringSubmatchIndex(text)
	if place == nil {
		return text, ""
	}
	message, stack, _ := strings.Cut(text[place[2]:], "\n")
	message = strings.TrimSuffix(message, " [recovered, repanicked]")
	if strings.Contains(message, timedOut) {
		return text[:place[0]], message + placeOfHang(root, stack)
	}
	return text[:place[0]], message + placeInStack(root, stack)
}

// panickedSubtest returns a pattern for the subtest in which a panic ended the tests, or "".
func panickedSubtest(text string) string {
	place := panicMark.FindStringIndex(text)
	if place == nil {
		return ""
	}
	matches := runningTest.FindAllStringSubmatch(text[:place[0]], -1)
	if matches == nil {
		return ""
	}
	parts := strings.Split(matches[len(matches)-1][1], "/")
	if len(parts) == 1 {
		return ""
	}
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// raceLine returns one line for a report of a data race, with both places.
func raceLine(root, report string) string {
	line := "DATA RACE"
	accesses := raceAccess.FindAllStringSubmatchIndex(report, -1)
	for i, access := range accesses {
		stack := report[access[1]:]
		if i+1 < len(accesses) {
			stack = report[access[1]:accesses[i+1][0]]
		}
		stack, _, _ = strings.Cut(stack, "\n\n") // below it, where the goroutine was started
		separator := ": "
		if i > 0 {
			separator = ", and "
		}
		line += separator + strings.ToLower(report[access[2]:access[3]]) + placeInStack(root, stack)
	}
	return line
}

// placeInStack returns the first function of the course in a stack, with its file and line. It
// returns a function of a test, or of scripts, only if there is no other.
func placeInStack(root, stack string) string {
	course, test := placesInStack(root, stack)
	return cmp.Or(course, test)
}

// placesInStack returns the first function of the course in a stack, and the first one of a test or
// of scripts.
func placesInStack(root, stack string) (course, test string) {
	for _, match := range stackFrame.FindAllStringSubmatch(stack, -1) {
		function, file, line := match[1], match[2], match[3]
		relative, err := filepath.Rel(root, file)
		if err != nil || strings.HasPrefix(relative, "..") {
			continue
		}
		place := fmt.Sprintf(", in %s (%s:%s)", function[strings.LastIndex(function, "/")+1:], relative, line)
		ofTests := strings.HasSuffix(file, "_test.go") || strings.HasSuffix(filepath.Dir(file), "test")
		switch {
		case !ofTests && !strings.Contains("/"+relative, "/scripts/"):
			course = cmp.Or(course, place)
		case test == "" || strings.HasSuffix(file, "_test.go") && !strings.Contains(test, "_test.go"):
			test = place
		}
	}
	return course, test
}

var (
	runsOrWaitsForLock = regexp.MustCompile(`^\s*goroutine \d+.*\[(running|runnable|sync\.\w+\.R?Lock)\b`)
	waitsForSubtest    = regexp.MustCompile(`(?m)^testing(\.\(\*T\)\.Run|/synctest\.Test)\(`)
)

// placeOfHang returns where a test hangs, by the stacks of all goroutines. One that runs, or waits
// for a lock, says more than one that waits for others. Then comes what the test itself calls.
func placeOfHang(root, stacks string) string {
	var busy, called, other, waits string
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		course, test := placesInStack(root, stack)
		switch {
		case course != "" && runsOrWaitsForLock.MatchString(stack):
			busy = cmp.Or(busy, course)
		case course != "" && test != "":
			called = cmp.Or(called, course)
		case course != "":
			other = cmp.Or(other, course)
		case !waitsForSubtest.MatchString(stack):
			waits = cmp.Or(waits, test)
		}
	}
	return cmp.Or(busy, called, waits, other)
}

// shorten returns what a reader needs of a long line. If the line has a value that was got and one
// that was wanted, that is where they differ.
func shorten(line string) string {
	const head = 90
	runes := []rune(line)
	if len(runes) <= maxColumn {
		return line
	}
	if got, want, ok := strings.Cut(line, ", want "); ok {
		if differences := differingWords(got, want); differences != "" {
			return string(runes[:head]) + " … : " + differences
		}
	}
	return string(runes[:maxColumn-head]) + " … " + string(runes[len(runes)-head:])
}

// differingWords returns the words that two texts do not have in common. What got has before the
// first common word is the beginning of a message.
func differingWords(got, want string) string {
	const maxDifferences = 3
	a, b := strings.Fields(got), strings.Fields(want)
	var all []string
	for _, op := range difflib.NewMatcherWithJunk(a, b, false, nil).GetOpCodes() {
		if op.Tag == 'e' {
			continue
		}
		if op.I1 == 0 {
			op.I1 = max(0, op.I2-(op.J2-op.J1))
		}
		if op.I1 < op.I2 || op.J1 < op.J2 {
			all = append(all, fmt.Sprintf("got %s, want %s", phrase(a[op.I1:op.I2]), phrase(b[op.J1:op.J2])))
		}
	}
	if more := len(all) - maxDifferences; more > 0 {
		all = append(all[:maxDifferences], fmt.Sprintf("and %d differences more", more))
	}
	return strings.Join(all, "; ")
}

// phrase returns the words, or the first of them, or "nothing".
func phrase(words []string) string {
	const limit = 80
	text := []rune(cmp.Or(strings.Join(words, " "), "nothing"))
	if len(text) > limit {
		return string(text[:limit]) + " …"
	}
	return string(text)
}
