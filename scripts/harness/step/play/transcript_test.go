// What is written as a transcript is read as the same transcript.

package play

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// updated is the transcript after -update, in a workspace of its own.
func updated(t *testing.T, s Step, transcript string) (text string, code int, stderr string) {
	t.Helper()
	root := t.TempDir()
	file := filepath.Join(root, "99-toy", "testdata", "toy.txt")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	must.Do(t, os.WriteFile(file, []byte(transcript), 0o644))
	t.Chdir(root)
	synctest.Test(t, func(t *testing.T) {
		code, _, stderr = run(t.Context(), chapterOf(s, transcript), "", "-update")
	})
	written, err := os.ReadFile(file)
	must.Do(t, err)
	return string(written), code, stderr
}

// -update keeps the commands and takes what is printed now.
func TestUpdate(t *testing.T) {
	for name, transcript := range map[string]string{
		"as it is":      doorTranscript,
		"other lines":   strings.ReplaceAll(doorTranscript, "knock\n", "hello\n"),
		"only commands": "> somebody knocks\n> somebody knocks\n^C\n",
	} {
		t.Run(name, func(t *testing.T) {
			text, code, stderr := updated(t, door("knock"), transcript)
			expect.That(t, code == 0 && text == doorTranscript, "exit code %d: %s\nwrote\n%s", code, stderr, text)
		})
	}
}

// What -update writes, the next run takes; what that would take for a command is not written.
func TestUpdateOfLinesThatAreNotAllWords(t *testing.T) {
	for line, good := range map[string]bool{"": true, ">": true, "> deux": false, "$ deux": false, "^C": false} {
		t.Run(line, func(t *testing.T) {
			s := says("un", line)
			text, code, stderr := updated(t, s, "un\n")
			if good {
				var err error
				synctest.Test(t, func(t *testing.T) { err = check(t.Context(), s, text) })
				expect.That(t, err == nil && code == 0, "exit code %d: %s\nand then: %v", code, stderr, err)
			} else if want := fmt.Sprintf("%q", line); code != 1 || text != "un\n" || !strings.Contains(stderr, want) {
				t.Errorf("exit code %d: %s\nwrote\n%s", code, stderr, text)
			}
		})
	}
}
