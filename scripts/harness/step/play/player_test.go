// Tests of the player with steps of all kinds, in fake time.

package play

import (
	"context"
	"errors"
	"fmt"
	"os"
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

func TestMain(m *testing.M) {
	must.Program(runChapter)
	goleak.VerifyTestMain(m)
}

// chapterOf returns a chapter of one step without a cluster, and its transcript.
func chapterOf(s Step, transcript string) Chapter {
	s.Name, s.Title = "toy", "a step for tests"
	return Chapter{
		Name:  "99-toy",
		Steps: []Step{s},
		Files: fstest.MapFS{"testdata/toy.txt": {Data: []byte(transcript)}},
	}
}

// check plays a step without a cluster against a transcript. It is for a synctest bubble, because
// its patience is short.
func check(ctx context.Context, s Step, transcript string) error {
	c := chapterOf(s, transcript)
	return c.checkStep(ctx, c.Steps[0].Name, defaultPatience, func(string) {})
}

// wantError wants an error with this text. If text is "", it wants no error.
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	switch {
	case text == "" && err != nil:
		t.Errorf("got error %v\nwant none", err)
	case text != "" && err == nil:
		t.Errorf("got no error\nwant one with %q", text)
	case text != "" && !strings.Contains(err.Error(), text):
		t.Errorf("got error %v\nwant one with %q", err, text)
	}
}

func wantContains(t *testing.T, stream, output, text string) {
	t.Helper()
	if !strings.Contains(output, text) {
		t.Errorf("%s lacks %q; it is\n%s", stream, text, output)
	}
}

// wantCode wants an exit code. If it is another one, it shows stderr.
func wantCode(t *testing.T, got, want int, stderr string) {
	t.Helper()
	if got != want {
		t.Errorf("exit code %d, want %d; stderr:\n%s", got, want, stderr)
	}
}

// says returns a step that prints its lines and returns.
func says(lines ...string) Step {
	return Step{Run: func(_ context.Context, env *Env) error {
		for _, line := range lines {
			fmt.Fprintln(env.Out, line)
		}
		return nil
	}}
}

// door returns a step that runs until it is stopped. It prints what happens to a door.
func door(knock string) Step {
	return Step{Run: func(ctx context.Context, env *Env) error {
		fmt.Fprintln(env.Out, "the door is there")
		env.On("somebody knocks", func() { go fmt.Fprintln(env.Out, knock) })
		env.On("the wind blows", func() {})
		<-ctx.Done()
		fmt.Fprintln(env.Out, "the door is gone")
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
	fold := func(s Step) Step {
		s.Fold = true
		return s
	}
	withoutNewline := Step{Run: func(_ context.Context, env *Env) error {
		_, err := fmt.Fprint(env.Out, "un")
		return err
	}}
	failing := Step{Run: func(context.Context, *Env) error { return errors.New("out of pods") }}
	offersAndReturns := Step{Run: func(_ context.Context, env *Env) error {
		env.On("somebody knocks", func() {})
		return nil
	}}
	failsAtItsEnd := Step{Run: func(ctx context.Context, _ *Env) error {
		<-ctx.Done()
		return errors.New("leave me alone")
	}}
	type test struct {
		step       Step
		transcript string
		err        string // "" if the step does what the transcript says
	}
	for name, test := range map[string]test{
		"a program that returns":        {says("un", "deux"), "un\ndeux\n", ""},
		"with the line that starts it":  {says("un"), "$ go run ./99-toy toy\nun\n", ""},
		"a line without an end":         {withoutNewline, "un\n", ""},
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
		"a program that fails":            {failing, "> somebody knocks\n", "out of pods"},
		"a program that returns too soon": {says("un"), "un\n> somebody knocks\n", "the step has returned"},
		"an action after its end": {
			offersAndReturns, "never\n> somebody knocks\n", "the step has returned"},
		"a program that fails when it is stopped": {
			failsAtItsEnd, "> somebody rings\n", `offers no action "somebody rings"`},
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
			synctest.Test(t, func(t *testing.T) {
				wantError(t, check(t.Context(), test.step, test.transcript), test.err)
			})
		})
	}
}

// If a reader changes a line, the player continues soon, and ends.
func TestAPlayNeverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for transcript, limit := range map[string]time.Duration{
			doorTranscript: 3 * settleTimeout,
			strings.Replace(doorTranscript, "knock\n", "knock\nand again\n", 1): defaultPatience + 3*settleTimeout,
		} {
			start := time.Now()
			wantError(t, check(t.Context(), door("reworded"), transcript), "+reworded")
			if took := time.Since(start); took > limit {
				t.Errorf("the play took %v, want %v at most, for\n%s", took, limit, transcript)
			}
		}
	})
}

func TestAProgramThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		defer close(hangs)
		s := Step{Run: func(context.Context, *Env) error {
			<-hangs
			return nil
		}}
		const late = "its context ended 30s ago, and it has not returned"
		wantError(t, check(t.Context(), s, "^C\n"), late)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		code, _, stderr := run(ctx, chapterOf(s, "^C\n"), "", "toy", "-follow")
		wantCode(t, code, exitFailed, stderr)
		wantContains(t, "stderr with -follow", stderr, late)
	})
}

// A repetition that comes after the next command is folded too.
func TestARepetitionThatComesLateIsFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kubelet := Step{Fold: true, Run: func(ctx context.Context, env *Env) error {
			fmt.Fprintln(env.Out, "Running")
			env.On("it is deleted", func() { fmt.Fprint(env.Out, "Running\nGone\n") })
			<-ctx.Done()
			return nil
		}}
		for lines, text := range map[string]string{"Gone": "", "Running\nGone": "", "Pending\nGone": "-Pending"} {
			wantError(t, check(t.Context(), kubelet, "Running\n> it is deleted\n"+lines+"\n"), text)
		}
	})
}

// The player shows all lines of a step with speakers, even if the step fails.
func TestShownSpeakerBySpeaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stepErr := range []error{nil, errors.New("out of pods")} {
			s := Step{Speakers: []string{"first", "second"}, Run: func(_ context.Context, env *Env) error {
				fmt.Fprint(env.Out, "second : a\nfirst : a\nsecond : b\n")
				return stepErr
			}}
			c := chapterOf(s, "first : a\nsecond : a\nsecond : b\n")
			var shown []string
			show := func(line string) { shown = append(shown, line) }
			err := c.checkStep(t.Context(), c.Steps[0].Name, defaultPatience, show)
			if !errors.Is(err, stepErr) {
				t.Errorf("checkStep() = %v, want %v", err, stepErr)
			}
			if want := []string{"first : a", "second : a", "second : b"}; !slices.Equal(shown, want) {
				t.Errorf("a step that returns %v: shown %q, want %q", stepErr, shown, want)
			}
		}
	})
}

// run runs a chapter as a program.
func run(ctx context.Context, c Chapter, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs record.Buffer
	code = c.run(ctx, args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// slowPanic is the value of a panic that takes a second to print.
type slowPanic struct{}

func (slowPanic) Error() string {
	time.Sleep(time.Second)
	return "ouch"
}

// The test runs itself again, as the program that panics.
func TestAStepThatPanicsEndsTheProgram(t *testing.T) {
	const inside = "PANIC_IN_A_STEP"
	if os.Getenv(inside) != "" {
		// The player waits for it, however busy the machine is.
		panics := Step{Patience: time.Hour, Run: func(context.Context, *Env) error { panic(slowPanic{}) }}
		code, _, _ := run(t.Context(), chapterOf(panics, "never\n"), "")
		os.Exit(code)
	}
	output, err := must.RunInSubprocess(t, t.Name(), inside+"=1")
	if err == nil || err.Error() != "exit status 2" {
		t.Errorf("the program ended with %v, want exit status 2, as after a panic", err)
	}
	wantContains(t, "output", output, "ouch")
}
