// Tests of -follow.

package play

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A step that fails before it serves is not waited for: the error comes at
// once, and nothing is suggested.
func TestFollowAStepThatFailsBeforeItServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := Step{Run: func(context.Context, *Lesson) error { return errors.New("the port is taken") }}
		began := time.Now()
		c := chapterOf(fails, "$ curl 'http://ADDRESS/'\nhello\n")
		code, stdout, stderr := run(t.Context(), c, "", "toy", "-follow")
		if took := time.Since(began); code != exitFailed || took > settling ||
			strings.Contains(stdout, "Try") || !strings.Contains(stderr, "the port is taken") {
			t.Errorf("exit code %d after %v, stdout:\n%s\nstderr:\n%s", code, took, stdout, stderr)
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
