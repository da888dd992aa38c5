// A transcript: commands, and what is printed after each of them; and how that is
// compared, exactly but for what the step says of its speakers and of equal neighbours.

package play

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// A transcript is a step's file, testdata/STEP.txt.
type transcript struct {
	setup  []block // before the program starts
	start  string  // the line "$ go run ...", or nothing
	blocks []block // the first has no command: what the program prints by itself
}

// A block is a command and the lines that are printed before the next one.
type block struct {
	command string // such as "$ kubectl delete pod nettool", or nothing
	lines   []string
}

// interrupt is the line that ends the program's context; without it, the end
// of the transcript does.
const interrupt = "^C"

// read returns the transcript of a step, whose commands the player can give. A
// step that has none yet gets an empty one.
func (c Chapter) read(ctx context.Context, s Step) (transcript, error) {
	text, err := fs.ReadFile(c.Files, "testdata/"+s.Name+".txt")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return transcript{}, err
	}
	t, err := parse(string(text), fmt.Sprintf("$ go run ./%s %s", c.Name, s.Name))
	if err != nil {
		return t, err
	}
	return t, t.check(ctx)
}

// parse reads a transcript. What stands above the line start is the set-up.
func parse(text, start string) (transcript, error) {
	t := transcript{blocks: []block{{}}}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		last := &t.blocks[len(t.blocks)-1]
		switch {
		case text == "":
		case line == start && t.start == "":
			if len(t.blocks[0].lines) > 0 {
				return transcript{}, fmt.Errorf("line 1: only commands may stand above %q", start)
			}
			t.start, t.setup, t.blocks = line, t.blocks[1:], []block{{}}
		case strings.HasPrefix(line, "$ go run"):
			return transcript{}, fmt.Errorf("line %d: %q: the only such line there can be is %q", i+1, line, start)
		case isCommand(line):
			t.blocks = append(t.blocks, block{command: line})
		default:
			last.lines = append(last.lines, line)
		}
	}
	return t, nil
}

func isCommand(line string) bool {
	return strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "> ") || line == interrupt
}

// played is whether something happens around the program while it runs. Else
// the program returns by itself.
func (t transcript) played() bool { return len(t.blocks) > 1 }

// writable is nil if String gives the text of this transcript. There is none
// where a line of output looks like a command.
func (t transcript) writable() error {
	for _, b := range slices.Concat(t.setup, t.blocks) {
		if i := slices.IndexFunc(b.lines, isCommand); i >= 0 {
			return fmt.Errorf("the line %q cannot be written: in a transcript it is a command", b.lines[i])
		}
	}
	return nil
}

func (t transcript) String() string {
	var text strings.Builder
	for _, b := range slices.Concat(t.setup, []block{{command: t.start}}, t.blocks) {
		if b.command != "" {
			text.WriteString(b.command + "\n")
		}
		for _, line := range b.lines {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}

// check finds the commands that the player could not give.
func (t transcript) check(ctx context.Context) error {
	for i, b := range slices.Concat(t.setup, t.blocks) {
		line, ok := strings.CutPrefix(b.command, "$ ")
		if !ok && i < len(t.setup) {
			return fmt.Errorf("%s: the program does not run yet", b.command)
		}
		if !ok {
			continue
		}
		if _, err := new(shell).parse(ctx, line); err != nil {
			return fmt.Errorf("%s: %w", b.command, err)
		}
	}
	return nil
}

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

// compare compares the lines of a block. before is the last line of each speaker from the blocks
// before: a repetition of it that comes late is folded as well.
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
	return fmt.Errorf("not as in its transcript (- is missing, + is new; -update takes it as it is now):\n%s",
		strings.TrimSuffix(text, "\n"))
}
