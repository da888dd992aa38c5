// What the player does with steps of all kinds, in fake time.

package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/record"
)

func TestMain(m *testing.M) {
	if os.Getenv(asChapter) != "" {
		runChapter()
	}
	goleak.VerifyTestMain(m)
}

// chapterOf is a chapter of one step without a cluster, and its transcript.
func chapterOf(s Step, transcript string) Chapter {
	s.Name, s.Title = "toy", "a step for tests"
	return Chapter{
		Name:  "99-toy",
		Steps: []Step{s},
		Files: fstest.MapFS{"testdata/toy.txt": {Data: []byte(transcript)}},
	}
}

// check plays a step without a cluster against a transcript. It is for a bubble, since its quiet time is
// short.
func check(ctx context.Context, s Step, transcript string) error {
	c := chapterOf(s, transcript)
	return c.Check(ctx, c.Steps[0], quiet, func(string) {})
}

// want wants an error with this text, or none for "".
func want(t *testing.T, err error, text string) {
	t.Helper()
	expect.That(t, (err == nil) == (text == "") && (err == nil || strings.Contains(err.Error(), text)),
		"got %v\nwant %q", err, text)
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
	quits := Step{Run: func(_ context.Context, l *Lesson) error { l.On("somebody knocks", func() {}); return nil }}
	gruff := Step{Run: func(ctx context.Context, _ *Lesson) error { <-ctx.Done(); return errors.New("leave me alone") }}
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
		"an action that nobody offers": {
			door("knock"),
			"the door is there\n> somebody rings\n", `the step offers no action "somebody rings"`,
		},
		"all commands are gone": {
			door("knock"),
			"the door is there\n", "after 10s: it printed nothing more, and did not return",
		},
		"a program that fails":                    {failing, "> somebody knocks\n", "out of pods"},
		"a program that returns too soon":         {says("un"), "un\n> somebody knocks\n", "the step has returned"},
		"an action after its end":                 {quits, "never\n> somebody knocks\n", "the step has returned"},
		"a program that fails when it is stopped": {gruff, "> somebody rings\n", `offers no action "somebody rings"`},
		"a question after its end": {
			door("knock"),
			doorTranscript + "$ curl http://ADDRESS/\ncurl: Get \"http:///\": http: no Host in request URL\n", "",
		},
		"a command that is none": {says("un"), "$ make coffee\nun\n", "the player knows kubectl"},
		"kubectl, and no cluster": {
			door("knock"),
			"the door is there\n$ kubectl get pods\nerror: this step has no cluster\nthe door is gone\n", "",
		},
		"another step's start": {says("un"), "$ go run ./01-deltafifo pop\nun\n", "the only such line there can be"},
		"an action before the start": {
			says("un"),
			"> somebody knocks\n$ go run ./99-toy toy\nun\n", "the program does not run yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { want(t, check(t.Context(), test.step, test.transcript), test.err) })
		})
	}
}

// A reader changes a line: the play goes on, soon, and ends.
func TestAPlayNeverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for transcript, most := range map[string]time.Duration{
			doorTranscript: 3 * settling,
			strings.Replace(doorTranscript, "knock\n", "knock\nand again\n", 1): quiet + 3*settling,
		} {
			start := time.Now()
			want(t, check(t.Context(), door("reworded"), transcript), "+reworded")
			took := time.Since(start)
			expect.That(t, took <= most, "took %v, want %v at most, for\n%s", took, most, transcript)
		}
	})
}

func TestAProgramThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		defer close(hangs)
		s := Step{Run: func(context.Context, *Lesson) error { <-hangs; return nil }}
		const late = "its context ended 30s ago, and it has not returned"
		want(t, check(t.Context(), s, "^C\n"), late)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		code, _, stderr := run(ctx, chapterOf(s, "^C\n"), "", "toy", "-follow")
		expect.That(t, code == exitFailed && strings.Contains(stderr, late),
			"-follow: exit code %d, stderr %q", code, stderr)
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
		for lines, text := range map[string]string{"Gone": "", "Running\nGone": "", "Pending\nGone": "-Pending"} {
			want(t, check(t.Context(), kubelet, "Running\n> it is deleted\n"+lines+"\n"), text)
		}
	})
}

// A program that fails is heard to its end.
func TestShownSpeakerBySpeaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, failed := range []error{nil, errors.New("out of pods")} {
			s := Step{Speakers: []string{"first", "second"}, Run: func(_ context.Context, l *Lesson) error {
				fmt.Fprint(l.Out, "second : a\nfirst : a\nsecond : b\n")
				return failed
			}}
			c := chapterOf(s, "first : a\nsecond : a\nsecond : b\n")
			var shown []string
			err := c.Check(t.Context(), c.Steps[0], quiet, func(line string) { shown = append(shown, line) })
			expect.That(t, errors.Is(err, failed) && strings.Join(shown, ", ") == "first : a, second : a, second : b",
				"shown: %q, error: %v", shown, err)
		}
	})
}

func run(ctx context.Context, c Chapter, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs record.Buffer
	code = c.run(ctx, args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// slowPanic is the reason of a panic that takes its time to print.
type slowPanic struct{}

func (slowPanic) Error() string { time.Sleep(time.Second); return "ouch" }

// The test runs itself once more, as the program that ends.
func TestAStepThatPanicsEndsTheProgram(t *testing.T) {
	const inside = "PANIC_IN_A_STEP"
	if os.Getenv(inside) != "" {
		// The player is to wait for it, however busy the machine is.
		panics := Step{Quiet: time.Hour, Run: func(context.Context, *Lesson) error { panic(slowPanic{}) }}
		code, _, _ := run(t.Context(), chapterOf(panics, "never\n"), "")
		os.Exit(code)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	output, err := cmd.CombinedOutput()
	expect.That(t, cmd.ProcessState.ExitCode() == 2 && strings.Contains(string(output), "ouch"),
		"it ended with %v, want exit status 2 and the panic; it printed\n%s", err, output)
}
