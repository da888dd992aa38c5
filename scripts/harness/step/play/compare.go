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

// speaker returns the name that begins the line, or nothing.
func (s Step) speaker(line string) string {
	for _, name := range s.Speakers {
		if strings.HasPrefix(line, name+" : ") {
			return name
		}
	}
	return ""
}

// of returns the lines of one speaker.
func (s Step) of(name string, lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return s.speaker(line) != name })
}

// tidy puts the lines of one speaker together, in the order of Speakers after
// those of nobody, and folds equal neighbours if the step wants that.
func (s Step) tidy(lines []string) []string {
	var tidied []string
	for _, name := range append([]string{""}, s.Speakers...) {
		spoken := s.of(name, lines)
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
		expected, printed := s.of(name, want), s.of(name, got)
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

// output collects the lines that are written to it, from any goroutine.
type output struct {
	show func(line string)        // called for each line as it comes
	name func(line string) string // puts NAMESPACE and ADDRESS into the line

	mu      sync.Mutex
	partial []byte
	lines   []string
	more    chan struct{} // closed, and made anew, when a line comes
}

func newOutput(name func(string) string, show func(string)) *output {
	return &output{name: name, show: show, more: make(chan struct{})}
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
		o.add(string(line))
	}
}

// flush makes a line of what was written without the end of a line.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.partial) > 0 {
		o.add(string(o.partial))
		o.partial = nil
	}
}

// add is called with mu held.
func (o *output) add(line string) {
	line = o.name(line)
	o.lines = append(o.lines, line)
	o.show(line)
	close(o.more)
	o.more = make(chan struct{})
}

// from returns the lines that came after the first n, and a channel that
// closes when another one comes.
func (o *output) from(n int) (lines []string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.lines[n:]...), o.more
}

// namer returns a function that puts a word in the place of what differs from
// run to run.
func namer(namespace string, address func() string) func(string) string {
	return func(line string) string {
		if namespace != "" {
			line = strings.ReplaceAll(line, namespace, "NAMESPACE")
		}
		if a := address(); a != "" {
			line = strings.ReplaceAll(line, a, "ADDRESS")
		}
		return line
	}
}
