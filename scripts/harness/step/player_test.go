// What the player does with steps of all kinds, in fake time.

package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// chapterOf is a chapter of one step without a cluster, and its transcript.
func chapterOf(s Step, transcript string) Chapter {
	s.Name, s.Title, s.Offline = "toy", "a step for tests", true
	return Chapter{
		Name:  "99-toy",
		Steps: []Step{s},
		Files: fstest.MapFS{"testdata/toy.txt": {Data: []byte(transcript)}},
	}
}

// says is a step that prints its lines and returns.
func says(lines ...string) Step {
	return Step{Run: func(_ context.Context, l *Lesson) error {
		for _, line := range lines {
			fmt.Fprintln(l.Out, line)
		}
		return nil
	}}
}

// door is a step that runs until it is stopped: it prints what happens to a
// door.
func door(knock string) Step {
	return Step{Run: func(ctx context.Context, l *Lesson) error {
		fmt.Fprintln(l.Out, "the door is there")
		l.On("somebody knocks", func() { go fmt.Fprintln(l.Out, knock) })
		l.On("the wind blows", func() {})
		<-ctx.Done()
		fmt.Fprintln(l.Out, "the door is gone")
		return ctx.Err()
	}}
}

const doorTranscript = `the door is there
> somebody knocks
knock
> somebody knocks
knock
^C
the door is gone
`

func TestPlay(t *testing.T) {
	talk := func(lines ...string) Step {
		s := says(lines...)
		s.Speakers = []string{"first", "second"}
		return s
	}
	fold := func(s Step) Step { s.Fold = true; return s }
	withoutEnd := Step{Run: func(_ context.Context, l *Lesson) error {
		_, err := fmt.Fprint(l.Out, "un")
		return err
	}}
	failing := Step{Run: func(context.Context, *Lesson) error { return errors.New("out of pods") }}
	for name, test := range map[string]struct {
		step       Step
		transcript string
		err        string // "" for as expected
	}{
		"a program that returns":        {says("un", "deux"), "un\ndeux\n", ""},
		"with the line that starts it":  {says("un"), "$ go run ./99-toy toy\nun\n", ""},
		"a line without an end":         {withoutEnd, "un\n", ""},
		"a line is missing":             {says("un"), "un\ndeux\n", "-deux"},
		"a line too many":               {says("un", "deux"), "un\n", "+deux"},
		"another order":                 {says("deux", "un"), "un\ndeux\n", "+deux"},
		"equal neighbours":              {says("un", "un"), "un\n", "+un"},
		"equal neighbours, folded":      {fold(says("un", "un")), "un\n", ""},
		"folded neighbours that differ": {fold(says("un", "deux", "un")), "un\ndeux\n", "+un"},
		"two speakers": {
			talk("second : a", "first : a", "first : b"),
			"first : a\nfirst : b\nsecond : a\n", "",
		},
		"a speaker has an order":        {talk("first : b", "first : a"), "first : a\nfirst : b\n", "+first : b"},
		"a program until it is stopped": {door("knock"), doorTranscript, ""},
		"the end of the transcript":     {door("knock"), "the door is there\n> the wind blows\nthe door is gone\n", ""},
		"its last line is not expected": {door("knock"), "the door is there\n> somebody knocks\n", "+knock"},
		"a reworded line":               {door("knock, knock"), doorTranscript, "+knock, knock"},
		"an event that nobody offers": {
			door("knock"),
			"the door is there\n> somebody rings\n", `the step offers no event "somebody rings"`,
		},
		"all commands are gone": {
			door("knock"),
			"the door is there\n", "after 10s: it printed nothing more, and did not return",
		},
		"a program that fails":            {failing, "> somebody knocks\n", "out of pods"},
		"a program that returns too soon": {says("un"), "un\n> somebody knocks\n", "the step has returned"},
		"a command that is none":          {says("un"), "$ make coffee\nun\n", "the player knows kubectl"},
		"kubectl would refuse it":         {says("un"), "$ kubectl run\nun\n", "the player cannot give this"},
		"another step's start": {
			says("un"),
			"$ go run ./01-deltafifo pop\nun\n", "the only such line there can be",
		},
		"an event before the start": {
			says("un"),
			"> somebody knocks\n$ go run ./99-toy toy\nun\n", "the program does not run yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := chapterOf(test.step, test.transcript)
				err := c.Check(t.Context(), c.Steps[0], quiet, func(string) {})
				if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v\nwant %q", err, test.err)
				}
			})
		})
	}
}

// A reader changes a line: the play goes on, soon, and ends.
func TestAPlayNeverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			transcript string
			most       time.Duration
		}{
			"a reworded line": {doorTranscript, 3 * settling},
			"a line is missing": {
				strings.Replace(doorTranscript, "knock\n", "knock\nand again\n", 1),
				quiet + 3*settling,
			},
		} {
			c := chapterOf(door("reworded"), test.transcript)
			start := time.Now()
			if err := c.Check(t.Context(), c.Steps[0], quiet, func(string) {}); err == nil {
				t.Errorf("%s: no error", name)
			}
			if took := time.Since(start); took > test.most {
				t.Errorf("%s: took %v, want %v at most", name, took, test.most)
			}
		}
	})
}

func TestAProgramThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		c := chapterOf(Step{Run: func(context.Context, *Lesson) error { <-hangs; return nil }}, "^C\n")
		err := c.Check(t.Context(), c.Steps[0], quiet, func(string) {})
		if err == nil || !strings.Contains(err.Error(), "its context ended 30s ago, and it has not returned") {
			t.Errorf("got %v", err)
		}
		close(hangs)
	})
}

// A repetition that comes after the next command is folded all the same.
func TestARepetitionThatComesLateIsFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kubelet := Step{Fold: true, Run: func(ctx context.Context, l *Lesson) error {
			fmt.Fprintln(l.Out, "Running")
			l.On("it is deleted", func() { fmt.Fprint(l.Out, "Running\nGone\n") })
			<-ctx.Done()
			return nil
		}}
		for transcript, good := range map[string]bool{
			"Running\n> it is deleted\nGone\n":          true,
			"Running\n> it is deleted\nRunning\nGone\n": true,
			"Running\n> it is deleted\nPending\nGone\n": false,
		} {
			c := chapterOf(kubelet, transcript)
			if err := c.Check(t.Context(), c.Steps[0], quiet, func(string) {}); (err == nil) != good {
				t.Errorf("%q: %v", transcript, err)
			}
		}
	})
}

func TestShownSpeakerBySpeaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := says("second : a", "first : a", "second : b")
		s.Speakers = []string{"first", "second"}
		var shown []string
		c := chapterOf(s, "first : a\nsecond : a\nsecond : b\n")
		show := func(line string) { shown = append(shown, line) }
		if err := c.Check(t.Context(), c.Steps[0], quiet, show); err != nil {
			t.Error(err)
		}
		if got := strings.Join(shown, ", "); got != "first : a, second : a, second : b" {
			t.Errorf("shown: %s", got)
		}
	})
}

func run(ctx context.Context, c Chapter, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs record.Buffer
	code = c.run(ctx, args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestCtrlCEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), settling/2) // before the play goes on without the line
		defer cancel()
		code, _, stderr := run(ctx, chapterOf(door("knock"), "the door is there\n> somebody knocks\nnever\n"), "")
		if code != 130 || stderr != "99-toy: stopped\n" {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})
}

// A program that returns because of Ctrl-C has not done as its transcript says,
// and that is no difference.
func TestCtrlCBeforeTheFirstLine(t *testing.T) {
	for range 100 { // either end may be seen first
		synctest.Test(t, func(t *testing.T) {
			ctx, ctrlC := context.WithCancel(t.Context())
			c := chapterOf(Step{Run: func(ctx context.Context, _ *Lesson) error { return ctx.Err() }}, "never\n")
			err := c.Check(ctx, c.Steps[0], quiet, func(string) {})
			if err == nil {
				t.Error("the line did not come, and there is no error")
			}
			ctrlC()
			if err := c.Check(ctx, c.Steps[0], quiet, func(string) {}); !errors.Is(err, context.Canceled) {
				t.Errorf("after Ctrl-C: %v", err)
			}
		})
	}
}

func TestCtrlCEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, ctrlC := context.WithCancel(t.Context())
		stdin, typed := io.Pipe()
		defer typed.Close()
		time.AfterFunc(time.Second, ctrlC)
		c := toy() // of two steps, neither of which is to wait for the other's Enter
		c.Files = fstest.MapFS{"testdata/one.txt": {Data: []byte("$ go run ./99-toy one\nun\n")}}
		var stdout, stderr record.Buffer
		if code := c.run(ctx, []string{"-pause"}, stdin, &stdout, &stderr); code != exitInterrupted {
			t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, &stderr, &stdout)
		}
	})
}

func TestPauseWaitsForEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enter, stdin := io.Pipe()
		defer stdin.Close()
		var stdout, stderr record.Buffer
		ended := make(chan int, 1)
		go func() {
			c := chapterOf(door("knock"), doorTranscript)
			c.Steps = append(c.Steps, c.Steps[0]) // what is typed for the one is not for the other
			ended <- c.run(t.Context(), []string{"-pause"}, enter, &stdout, &stderr)
		}()
		pauses := []string{"> somebody knocks\n", "> somebody knocks\nknock\n> somebody knocks\n", "knock\n^C\n"}
		for i, shown := range slices.Repeat(pauses, 2) {
			synctest.Wait() // until nothing moves but for Enter
			if !strings.HasSuffix(stdout.String(), shown) {
				t.Errorf("pause %d: want %q at the end of\n%s", i+1, shown, &stdout)
			}
			fmt.Fprintln(stdin)
		}
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, &stderr, &stdout)
		}
	})
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, ctrlC := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, ctrlC)
		code, stdout, stderr := run(ctx, chapterOf(door("knock"), doorTranscript),
			"> somebody knocks\nsomebody rings\n", "toy", "-follow")
		synctest.Wait()
		for _, want := range []string{"the door is there\n",
			"Type these here:\n  somebody knocks\nCtrl-C ends it.\n", "knock\n",
			"the door is gone\n"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("stdout lacks %q", want)
			}
		}
		if code != 0 || !strings.HasPrefix(stderr, `the step offers no event "somebody rings"; it offers`) {
			t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
		}
	})
}

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
			if text, code, stderr := updated(t, door("knock"), transcript); code != 0 || text != doorTranscript {
				t.Errorf("exit code %d: %s\nwrote\n%s", code, stderr, text)
			}
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
				c := chapterOf(s, text)
				if err := c.Check(t.Context(), c.Steps[0], quiet, func(string) {}); err != nil || code != 0 {
					t.Errorf("exit code %d: %s\nand then: %v", code, stderr, err)
				}
			} else if want := fmt.Sprintf("%q", line); code != 1 || text != "un\n" || !strings.Contains(stderr, want) {
				t.Errorf("exit code %d: %s\nwrote\n%s", code, stderr, text)
			}
		})
	}
}

// slowPanic is the reason of a panic that takes its time to print.
type slowPanic struct{}

func (slowPanic) Error() string { time.Sleep(time.Second); return "ouch" }

// The test runs itself once more, as the program that ends.
func TestAStepThatPanicsEndsTheProgram(t *testing.T) {
	const inside = "PANIC_IN_A_STEP"
	if os.Getenv(inside) != "" {
		panics := Step{Run: func(context.Context, *Lesson) error { panic(slowPanic{}) }}
		code, _, _ := run(t.Context(), chapterOf(panics, "never\n"), "")
		os.Exit(code)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(output), "ouch") {
		t.Errorf("it ended with %v, want exit status 2 and the panic; it printed\n%s", err, output)
	}
}
