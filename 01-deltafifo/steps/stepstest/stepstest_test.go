// The frames are judged, too: what they are to find, they find.

package stepstest

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/01-deltafifo/steps"
)

func TestMain(m *testing.M) {
	Program(func() { // says what it is told to say, and ends as it is told to end
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
			if got := strings.Join(v.errors, "\n"); (got == "") != (test.want == "") ||
				!strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	WantExit(t, Command(t, "0", ""), 0)
	v := &verdict{TB: t}
	if WantExit(v, Command(t, "0", "by the way\n"), 0); !v.Failed() {
		t.Error("a program may talk on stderr though all is well")
	}
}

func TestCtrlCAt(t *testing.T) {
	ctx, out := CtrlCAt(t, 2)
	fmt.Fprint(out, "one ")
	if ctx.Err() != nil {
		t.Error("Ctrl-C came at the first print")
	}
	fmt.Fprint(out, "two ")
	if ctx.Err() == nil {
		t.Error("Ctrl-C did not come at the second print")
	}
	fmt.Fprint(out, "three")
	if out.String() != "one two three" {
		t.Errorf("the terminal shows %q", out)
	}
}

func TestFollow(t *testing.T) {
	ended := false
	t.Run("-follow", func(t *testing.T) {
		out := Follow(t, steps.Chapter{Follow: func(ctx context.Context, out io.Writer) error {
			fmt.Fprintln(out, "at port 4000")
			<-ctx.Done()
			ended = true
			return nil
		}})
		if got := out.Await(t, regexp.MustCompile(`port \d+`)); got != "port 4000" {
			t.Errorf("it printed %q", got)
		}
	})
	if !ended {
		t.Error("it was not waited for")
	}
}
