// Tests of -follow.

package play

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

// A step that fails before it serves is not waited for: the error comes at
// once, and nothing is suggested.
func TestFollowAStepThatFailsBeforeItServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Chapter{
			Name:  "00-test",
			Files: fstest.MapFS{"testdata/page.txt": {Data: []byte("$ curl 'http://ADDRESS/'\nhello\n")}},
			Steps: []Step{{Name: "page", Run: func(context.Context, *Lesson) error {
				return errors.New("the port is taken")
			}}},
		}
		began := time.Now()
		var stdout, stderr strings.Builder
		code := c.run(t.Context(), []string{"page", "-follow"}, strings.NewReader(""), &stdout, &stderr)
		if took := time.Since(began); code != exitFailed || took > settling {
			t.Errorf("exit code %d after %v, want %d at once", code, took, exitFailed)
		}
		if strings.Contains(stdout.String(), "Try") || !strings.Contains(stderr.String(), "the port is taken") {
			t.Errorf("stdout:\n%s\nstderr:\n%s", &stdout, &stderr)
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
		if code != 0 || !strings.HasPrefix(stderr, `> somebody rings: the step offers no action`) {
			t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
		}
	})
}

// The next action is taken, and Ctrl-C ends it all.
func TestFollowAnActionThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		code, _, stderr := run(ctx, chapterOf(stuck(t), stuckTranscript),
			"somebody leans on the door\nsomebody rings\n", "toy", "-follow")
		want := "> somebody leans on the door: after 10s: it did not return, and nobody waits for it any longer\n" +
			"> somebody rings: the step offers no action"
		if code != exitOK || !strings.HasPrefix(stderr, want) {
			t.Errorf("exit code %d, stderr\n%s", code, stderr)
		}
	})
}

func TestFollowAProgramThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		defer close(hangs)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := chapterOf(Step{Run: func(context.Context, *Lesson) error { <-hangs; return nil }}, "^C\n")
		code, _, stderr := run(ctx, c, "", "toy", "-follow")
		if code != exitFailed || !strings.Contains(stderr, "its context ended 30s ago, and it has not returned") {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})
}
