// Tests of -follow.

package play

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// If a step fails before it serves, the error comes immediately, and the player suggests nothing.
func TestFollowAStepThatFailsBeforeItServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := Step{Run: func(context.Context, *Env) error { return errors.New("the port is taken") }}
		began := time.Now()
		c := chapterOf(fails, "$ curl 'http://ADDRESS/'\nhello\n")
		code, stdout, stderr := run(t.Context(), c, "", "toy", "-follow")
		wantCode(t, code, exitFailed, stderr)
		wantContains(t, "stderr", stderr, "the port is taken")
		if strings.Contains(stdout, "Try") {
			t.Errorf("stdout has suggestions, want none:\n%s", stdout)
		}
		if took := time.Since(began); took > settleTimeout {
			t.Errorf("the error came after %v, want %v at most", took, settleTimeout)
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
		wantCode(t, code, exitOK, stderr)
		for _, text := range []string{
			"the door is there\n",
			"Type these here:\n  somebody knocks\nCtrl-C ends it.\n",
			"knock\n",
			"the door is gone\n",
		} {
			wantContains(t, "stdout", stdout, text)
		}
		if want := "> somebody rings: the step offers no action"; !strings.HasPrefix(stderr, want) {
			t.Errorf("stderr is %q, want %q at its beginning", stderr, want)
		}
	})
}

// suggestedCluster is a cluster with a kubectl that the user can run.
type suggestedCluster struct{ silentCluster }

func (suggestedCluster) KubectlCommand() string { return "/w/kubectl -n informer-x" }
func (suggestedCluster) File(_ fs.FS, name string) (string, error) {
	if name != "web.yaml" {
		return "", fs.ErrNotExist
	}
	return "/my clone/" + name, nil
}

// Each suggested command runs in any folder, on a machine that has curl and grep, but no jq.
func TestFollowSuggestsCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, ctrlC := context.WithTimeout(t.Context(), time.Minute)
		defer ctrlC()
		c := chapterOf(serving, `serving
$ kubectl create -f web.yaml
$ kubectl create -f lost.yaml
$ curl -s 'http://ADDRESS/NAMESPACE/pods' | jq -c '.[0]'
{}
$ curl -s 'http://ADDRESS/NAMESPACE/pods' | jq -c '.[1]'
{}
$ curl -s 'http://ADDRESS/metrics' | grep -E '^up|^down'
up 1
`)
		c.Connect = func(context.Context, time.Duration) (Cluster, error) { return suggestedCluster{}, nil }
		_, stdout, _ := run(ctx, c, "", "toy", "-follow")
		want := `Try these in another terminal:
  /w/kubectl -n informer-x create -f '/my clone/web.yaml'
  /w/kubectl -n informer-x create -f lost.yaml
  curl -s 'http://example.com/informer-x/pods'
  curl -s 'http://example.com/metrics' | grep -E '^up|^down'
Ctrl-C ends it.
`
		wantContains(t, "stdout", stdout, want)
	})
}

// The player takes the next action, and Ctrl-C ends the program.
func TestFollowAnActionThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		code, _, stderr := run(ctx, chapterOf(stuck(t), stuckTranscript),
			"somebody leans on the door\nsomebody rings\n", "toy", "-follow")
		want := "> somebody leans on the door: after 10s: it did not return\n" +
			"> somebody rings: the step offers no action"
		wantCode(t, code, exitOK, stderr)
		if !strings.HasPrefix(stderr, want) {
			t.Errorf("stderr is\n%s\nwant at its beginning\n%s", stderr, want)
		}
	})
}
