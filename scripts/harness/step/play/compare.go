// What a step prints, line by line, and the comparison with what is expected, exact
// but for what the step says of its speakers and of equal neighbours.

package play

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pmezard/go-difflib/difflib"
)

// speaker returns the number of the speaker that begins the line, from 1 on, or 0.
func (s Step) speaker(line string) int {
	return 1 + slices.IndexFunc(s.Speakers, func(name string) bool { return strings.HasPrefix(line, name+" : ") })
}

// tidy puts the lines of one speaker together, in the order of Speakers after
// those of nobody, and folds equal neighbours if the step wants that.
func (s Step) tidy(lines []string) []string {
	tidied := slices.Clone(lines)
	slices.SortStableFunc(tidied, func(a, b string) int { return s.speaker(a) - s.speaker(b) })
	if s.Fold {
		tidied = slices.Compact(tidied)
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
func (s Step) compare(want, got []string, before map[int]string) match {
	verdict := s.compareTidied(s.tidy(want), s.tidy(got))
	if verdict == differs && s.Fold {
		return s.compareTidied(s.tidy(want), s.tidy(s.withoutRepeats(got, before)))
	}
	return verdict
}

// withoutRepeats leaves out the first lines of each speaker if they only
// repeat what that speaker printed last.
func (s Step) withoutRepeats(lines []string, before map[int]string) []string {
	news := map[int]bool{} // from these speakers
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		speaker := s.speaker(line)
		last, ok := before[speaker]
		news[speaker] = news[speaker] || !ok || line != last
		return !news[speaker]
	})
}

// compareTidied takes each line for the next one of its speaker. It changes want.
func (s Step) compareTidied(want, got []string) match {
	for _, line := range got {
		i := slices.IndexFunc(want, func(next string) bool { return s.speaker(next) == s.speaker(line) })
		if i < 0 || want[i] != line {
			return differs
		}
		want = slices.Delete(want, i, i+1)
	}
	if len(want) > 0 {
		return awaited
	}
	return matches
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
	return fmt.Errorf("not as in its transcript (- is missing, + is new; -update takes it as it is now):\n%s", strings.TrimSuffix(text, "\n"))
}

// output collects the lines that are written to it, from any goroutine.
type output struct {
	show func(line string)        // called for each line as it comes
	name func(line string) string // puts NAMESPACE and ADDRESS into the line

	mu      sync.Mutex
	partial []byte
	lines   []string
	more    chan struct{} // closed, and made anew, when a line comes
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.partial = append(o.partial, p...)
	for {
		line, rest, found := bytes.Cut(o.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		o.partial = rest
		named := o.name(string(line))
		o.lines = append(o.lines, named)
		o.show(named)
		close(o.more)
		o.more = make(chan struct{})
	}
}

// flush ends a line that was written without its end.
func (o *output) flush() {
	o.mu.Lock()
	begun := len(o.partial) > 0
	o.mu.Unlock()
	if begun {
		o.Write([]byte("\n"))
	}
}

// from returns the lines that came after the first n, and a channel that
// closes when another one comes.
func (o *output) from(n int) (lines []string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.lines[n:]), o.more
}
