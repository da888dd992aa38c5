// Tests of -follow.

package play

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/informer/scripts/harness/expect"
)

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
			expect.That(t, strings.Contains(stdout, want), "stdout lacks %q", want)
		}
		expect.That(t, code == 0 && strings.HasPrefix(stderr, `> somebody rings: the step offers no action`),
			"exit code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
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
		expect.That(t, code == exitOK && strings.HasPrefix(stderr, want), "exit code %d, stderr\n%s", code, stderr)
	})
}
