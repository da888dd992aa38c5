// A transcript: commands, and what is printed after each of them.

package play

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
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
