// What is written as a transcript is read as the same transcript.

package step

import (
	"fmt"
	"strings"
	"testing"
)

func FuzzWhatIsWrittenIsReadAgain(f *testing.F) {
	for _, output := range []string{"", "un", "un\ndeux", "\n", "un\n", "\n\n\n", "> un", "$ un", "^C", "$ go run ./99-toy toy",
		"un\n$ go run", "$", ">un", " > un", "> ", "un\r"} {
		f.Add(output, "", "", true)
		f.Add("", output, "", false)
		f.Add("", output, "", true)
		f.Add("deux", "", output, false)
	}
	const start = "$ go run ./99-toy toy"
	printed := func(text string) (lines []string) {
		if text != "" {
			lines = strings.Split(text, "\n")
		}
		return lines
	}
	f.Fuzz(func(t *testing.T, setup, alone, after string, started bool) {
		want := transcript{blocks: []block{{"", printed(alone)}, {"> somebody knocks", printed(after)}}}
		if started {
			want.start, want.setup = start, []block{{"$ kubectl get pods -o name", printed(setup)}}
		}
		if want.writable() != nil {
			return
		}
		got, err := parse(want.String(), start)
		if wrote, read := parts(want), parts(got); err != nil || wrote != read {
			t.Errorf("wrote %s\nread  %s, %v", wrote, read, err)
		}
	})
}

// parts tells a command from a line that looks like one.
func parts(t transcript) string { return fmt.Sprintf("%q, %q, %q", t.setup, t.start, t.blocks) }
