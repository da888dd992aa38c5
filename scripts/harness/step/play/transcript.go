// A transcript: commands, and the lines that are printed after each of them.

package play

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A transcript is a step's file, testdata/STEP.txt.
type transcript struct {
	setup  []block // before the program starts
	start  string  // the line "$ go run ...", or ""
	blocks []block // the first one has no command: its lines come before the first command
}

// A block is a command and the lines that are printed before the next one.
type block struct {
	command string // such as "$ kubectl delete pod nettool", or ""
	lines   []string
}

// How the lines of a transcript begin that are not output.
const (
	commandPrefix = "$ " // a command of the shell
	actionPrefix  = "> " // an action that the step offers
)

// interrupt is the line that ends the program's context. Without this line, the end of the
// transcript ends it.
const interrupt = "^C"

// readTranscript returns the transcript of a step. It returns an error if the player cannot give
// one of the commands. A step without a file gets an empty transcript.
func (c Chapter) readTranscript(s Step) (transcript, error) {
	text, err := fs.ReadFile(c.Files, "testdata/"+s.Name+".txt")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return transcript{}, err
	}
	t, err := parseTranscript(string(text), fmt.Sprintf("$ go run ./%s %s", c.Name, s.Name))
	if err != nil {
		return t, err
	}
	return t, t.check()
}

// parseTranscript parses a transcript. The commands above the line start are the set-up.
func parseTranscript(text, start string) (transcript, error) {
	t := transcript{blocks: []block{{}}}
	if text == "" {
		return t, nil
	}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
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
			last := &t.blocks[len(t.blocks)-1]
			last.lines = append(last.lines, line)
		}
	}
	return t, nil
}

func isCommand(line string) bool {
	return strings.HasPrefix(line, commandPrefix) || strings.HasPrefix(line, actionPrefix) || line == interrupt
}

// hasCommands reports whether the player gives commands while the program runs. If it gives none,
// the program returns by itself.
func (t transcript) hasCommands() bool { return len(t.blocks) > 1 }

// checkWritable returns an error if a line of output looks like a command. Such a transcript cannot
// be written: it would be read as another one.
func (t transcript) checkWritable() error {
	for _, b := range slices.Concat(t.setup, t.blocks) {
		if i := slices.IndexFunc(b.lines, isCommand); i >= 0 {
			return fmt.Errorf("the line %q cannot be written: in a transcript it is a command", b.lines[i])
		}
	}
	return nil
}

// String returns the text of the transcript.
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

// check returns an error for a command that the player could not give.
func (t transcript) check() error {
	for _, b := range t.setup {
		if !strings.HasPrefix(b.command, commandPrefix) {
			return fmt.Errorf("%s: the program does not run yet", b.command)
		}
	}
	for _, b := range slices.Concat(t.setup, t.blocks) {
		line, ok := strings.CutPrefix(b.command, commandPrefix)
		if !ok {
			continue
		}
		if _, err := new(shell).parse(line); err != nil {
			return fmt.Errorf("%s: %w", b.command, err)
		}
	}
	return nil
}
