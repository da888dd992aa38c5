// Tests that a transcript that was written is read as the same transcript.

package play

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/manifest"
)

func FuzzWhatIsWrittenIsReadAgain(f *testing.F) {
	for _, output := range []string{
		"", "un", "un\ndeux", "\n", "un\n", "\n\n\n", "> un", "$ un", "^C", "$ go run ./99-toy toy", "un\n$ go run",
		"$", ">un", " > un", "> ", "un\r",
	} {
		f.Add(output, "", "", true)
		f.Add("", output, "", false)
		f.Add("", output, "", true)
		f.Add("deux", "", output, false)
	}
	const start = "$ go run ./99-toy toy"
	lines := func(output string) []string {
		if output == "" {
			return nil
		}
		return strings.Split(output, "\n")
	}
	f.Fuzz(func(t *testing.T, setup, alone, after string, started bool) {
		want := transcript{blocks: []block{
			{lines: lines(alone)},
			{command: "> somebody knocks", lines: lines(after)},
		}}
		if started {
			want.start = start
			want.setup = []block{{command: "$ kubectl get pods -o name", lines: lines(setup)}}
		}
		if want.checkWritable() != nil {
			return
		}
		got, err := parseTranscript(want.String(), start)
		if err != nil {
			t.Fatalf("parseTranscript(%q) = %v", want.String(), err)
		}
		if written, read := parts(want), parts(got); written != read {
			t.Errorf("wrote %s\nread  %s", written, read)
		}
	})
}

// parts formats the parts of a transcript. Unlike String, it distinguishes a command from a line
// that looks like one.
func parts(t transcript) string { return fmt.Sprintf("%q, %q, %q", t.setup, t.start, t.blocks) }

// update plays a step with -update, in a workspace of its own, and returns the new transcript.
func update(t *testing.T, s Step, transcript string) (text string, code int, stderr string) {
	t.Helper()
	root := t.TempDir()
	file := filepath.Join(root, "99-toy", "testdata", "toy.txt")
	must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	must.NoError(t, os.Mkdir(filepath.Join(root, "docs"), 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(root, manifest.File), []byte("{}"), 0o644))
	must.NoError(t, os.WriteFile(file, []byte(transcript), 0o644))
	t.Chdir(root)
	synctest.Test(t, func(t *testing.T) {
		code, _, stderr = run(t.Context(), chapterOf(s, transcript), "", "-update")
	})
	written, err := os.ReadFile(file)
	must.NoError(t, err)
	return string(written), code, stderr
}

// -update keeps the commands, and replaces the lines.
func TestUpdate(t *testing.T) {
	for name, transcript := range map[string]string{
		"as it is":      doorTranscript,
		"other lines":   strings.ReplaceAll(doorTranscript, "knock\n", "hello\n"),
		"only commands": "> somebody knocks\n> somebody knocks\n^C\n",
	} {
		t.Run(name, func(t *testing.T) {
			text, code, stderr := update(t, door("knock"), transcript)
			wantCode(t, code, exitOK, stderr)
			if text != doorTranscript {
				t.Errorf("-update wrote\n%s\nwant\n%s", text, doorTranscript)
			}
		})
	}
}

// The next run accepts the transcript that -update writes.
func TestUpdateWritesLinesWithoutWords(t *testing.T) {
	for _, line := range []string{"", ">"} {
		t.Run(fmt.Sprintf("%q", line), func(t *testing.T) {
			s := says("un", line)
			text, code, stderr := update(t, s, "un\n")
			wantCode(t, code, exitOK, stderr)
			synctest.Test(t, func(t *testing.T) { wantError(t, check(t.Context(), s, text), "") })
		})
	}
}

// -update does not write a line that the next run would take for a command.
func TestUpdateRefusesLinesThatLookLikeCommands(t *testing.T) {
	for _, line := range []string{"> deux", "$ deux", "^C"} {
		t.Run(fmt.Sprintf("%q", line), func(t *testing.T) {
			const old = "un\n"
			text, code, stderr := update(t, says("un", line), old)
			wantCode(t, code, exitFailed, stderr)
			wantContains(t, "stderr", stderr, fmt.Sprintf("%q", line))
			if text != old {
				t.Errorf("-update wrote %q, want that the transcript stays %q", text, old)
			}
		})
	}
}
