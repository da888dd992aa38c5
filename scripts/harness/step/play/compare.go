// The comparison of what is printed with what is expected, exact but for what
// the step says of its speakers and of equal neighbours.

package play

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// speaker returns the name that begins the line, or nothing.
func (s Step) speaker(line string) string {
	for _, name := range s.Speakers {
		if strings.HasPrefix(line, name+" : ") {
			return name
		}
	}
	return ""
}

// tidy puts the lines of one speaker together, in the order of Speakers after
// those of nobody, and folds equal neighbours if the step wants that.
func (s Step) tidy(lines []string) []string {
	var tidied []string
	for _, name := range append([]string{""}, s.Speakers...) {
		var spoken []string
		for _, line := range lines {
			if s.speaker(line) == name {
				spoken = append(spoken, line)
			}
		}
		if s.Fold {
			spoken = slices.Compact(spoken)
		}
		tidied = append(tidied, spoken...)
	}
	return tidied
}

// A match says how the lines that have come compare with those that are
// expected.
type match int

const (
	matches match = iota // they are all there
	awaited              // more are to come
	differs              // they can no longer match
)

// compare compares the lines of a block. before is the last line of each
// speaker from the blocks before: a repetition of it that comes late is folded
// as well.
func (s Step) compare(want, got []string, before map[string]string) match {
	want = s.tidy(want)
	verdict := s.compareTidied(want, s.tidy(got))
	if verdict != differs || !s.Fold {
		return verdict
	}
	return s.compareTidied(want, s.tidy(s.withoutRepeats(got, before)))
}

// withoutRepeats leaves out the first lines of each speaker if they only
// repeat what that speaker printed last.
func (s Step) withoutRepeats(lines []string, before map[string]string) (rest []string) {
	spoken := map[string]bool{}
	for _, line := range lines {
		name := s.speaker(line)
		if last, ok := before[name]; ok && !spoken[name] && line == last {
			continue
		}
		spoken[name] = true
		rest = append(rest, line)
	}
	return rest
}

func (s Step) compareTidied(want, got []string) match {
	if slices.Equal(want, got) {
		return matches
	}
	for _, name := range append([]string{""}, s.Speakers...) {
		spoken := func(lines []string) []string {
			return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return s.speaker(line) != name })
		}
		expected, printed := spoken(want), spoken(got)
		if len(printed) > len(expected) || !slices.Equal(expected[:len(printed)], printed) {
			return differs
		}
	}
	return awaited
}

// differenceError says what is missing from got, with a minus, and what it has
// beyond want, with a plus. It is nil when they are the same.
func differenceError(want, got transcript) error {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:       slices.Collect(strings.Lines(want.String())),
		B:       slices.Collect(strings.Lines(got.String())),
		Context: 2,
	})
	if err != nil || text == "" {
		return err
	}
	return fmt.Errorf("not as in its transcript (- is missing, + is new):\n%s", strings.TrimSuffix(text, "\n"))
}
