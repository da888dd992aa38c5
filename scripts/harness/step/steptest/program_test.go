// The frames are judged, too: what they are to find, they find.

package steptest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/expect"
)

func TestMain(m *testing.M) {
	Program(func() { // prints and returns what its arguments say
		fmt.Println("hello")
		fmt.Fprint(os.Stderr, os.Args[2])
		code, _ := strconv.Atoi(os.Args[1])
		os.Exit(code)
	})
	goleak.VerifyTestMain(m)
}

// verdict is a test that only notes its errors.
type verdict struct {
	testing.TB
	errors []string
}

func (v *verdict) Failed() bool { return len(v.errors) > 0 }
func (v *verdict) Errorf(format string, args ...any) {
	v.errors = append(v.errors, fmt.Sprintf(format, args...))
}

// Programs that end in another way than they should are found out.
func TestWantExit(t *testing.T) {
	for name, test := range map[string]struct {
		code, stderr string
		want         string
	}{
		"as it should":   {"1", "no cluster\n", ""},
		"another code":   {"2", "no cluster\n", "exit code 2, want 1"},
		"all is well":    {"0", "no cluster\n", "exit code 0, want 1"},
		"without a word": {"1", "", "0 lines on stderr"},
		"a stack trace":  {"1", "no cluster\n1\n2\n", "3 lines on stderr"},
		"something else": {"1", "no reason\n", `stderr lacks "cluster"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &verdict{TB: t}
			WantExit(v, Outside(t, test.code, test.stderr), 1, "no", "cluster")
			got := strings.Join(v.errors, "\n")
			expect.That(t, (got == "") == (test.want == "") && strings.Contains(got, test.want),
				"got %q, want %q", got, test.want)
		})
	}
	WantExit(t, Command(t, "0", ""), 0)
	v := &verdict{TB: t}
	WantExit(v, Command(t, "0", "by the way\n"), 0)
	expect.That(t, v.Failed(), "a program may talk on stderr though all is well")
}

func TestReadLines(t *testing.T) {
	var lines []string
	code := ReadLines(t, Command(t, "3", ""), func(line string) { lines = append(lines, line) })
	expect.That(t, code == 3 && strings.Join(lines, ",") == "hello", "exit code %d, lines %q", code, lines)
}
