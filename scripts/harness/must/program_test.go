// Tests of the helpers that run a program.

package must

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Program(func() { // its arguments are the exit code, and the text for stderr
		fmt.Println("hello")
		fmt.Fprint(os.Stderr, os.Args[2])
		code, _ := strconv.Atoi(os.Args[1])
		os.Exit(code)
	})
	goleak.VerifyTestMain(m)
}

// A failureRecorder is a testing.TB that only records its errors.
type failureRecorder struct {
	testing.TB
	errors []string
}

func (r *failureRecorder) Failed() bool { return len(r.errors) > 0 }
func (r *failureRecorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// Exit finds a program with another exit code, or with another stderr.
func TestExitWith(t *testing.T) {
	for name, test := range map[string]struct {
		code   string // of the program
		stderr string
		want   string // in the errors of Exit; "" for none
	}{
		"as expected":   {code: "1", stderr: "no cluster\n", want: ""},
		"another code":  {code: "2", stderr: "no cluster\n", want: "exit code 2, want 1"},
		"success":       {code: "0", stderr: "no cluster\n", want: "exit code 0, want 1"},
		"empty stderr":  {code: "1", stderr: "", want: "0 lines on stderr"},
		"a stack trace": {code: "1", stderr: "no cluster\n1\n2\n", want: "3 lines on stderr"},
		"another text":  {code: "1", stderr: "no reason\n", want: `stderr lacks "cluster"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &failureRecorder{TB: t}
			ExitWith(r, CommandOutside(t, test.code, test.stderr), 1, "no", "cluster")
			got := strings.Join(r.errors, "\n")
			if test.want == "" && got != "" {
				t.Errorf("ExitWith() found %q, want nothing", got)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("ExitWith() found %q, want %q in it", got, test.want)
			}
		})
	}
	t.Run("success is silent", func(t *testing.T) {
		ExitWith(t, Command(t, "0", ""), 0)
		r := &failureRecorder{TB: t}
		ExitWith(r, Command(t, "0", "by the way\n"), 0)
		if !r.Failed() {
			t.Error("ExitWith() found nothing, though a program that succeeds printed to stderr")
		}
	})
}

func TestReadLines(t *testing.T) {
	var lines []string
	code := ReadLines(t, Command(t, "3", ""), func(line string) { lines = append(lines, line) })
	if code != 3 {
		t.Errorf("ReadLines() = %d, want 3", code)
	}
	if want := []string{"hello"}; !slices.Equal(lines, want) {
		t.Errorf("ReadLines() read the lines %q, want %q", lines, want)
	}
}
