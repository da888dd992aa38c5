// What Enter and Ctrl-C do to a play, and -follow.

package play

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/record"
)

func TestCtrlCEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []Chapter{
			chapterOf(door("knock"), "the door is there\n> somebody knocks\nnever\n"),
			chapterOf(stuck(t), stuckTranscript), // an action that does not return
		} {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), settling/2) // before the play goes on without the line
			defer cancel()
			code, _, stderr := run(ctx, c, "")
			if took := time.Since(began); code != exitInterrupted || stderr != "99-toy: stopped\n" || took > settling {
				t.Errorf("exit code %d after %v, stderr %q", code, took, stderr)
			}
		}
	})
}

// Neither does the next step wait for its Enter, nor is the action given.
func TestCtrlCEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := false
		asks := Step{Run: func(ctx context.Context, l *Lesson) error {
			l.On("somebody asks", func() { asked = true })
			<-ctx.Done()
			return nil
		}}
		for _, transcript := range []string{"$ go run ./99-toy toy\nun\n", "> somebody asks\n"} {
			ctx, ctrlC := context.WithTimeout(t.Context(), time.Second)
			defer ctrlC()
			stdin, typed := io.Pipe()
			defer typed.Close()
			c := chapterOf(asks, transcript)
			c.Steps = append(c.Steps, c.Steps[0])
			var stdout, stderr record.Buffer
			if code := c.run(ctx, []string{"-pause"}, stdin, &stdout, &stderr); code != exitInterrupted || asked {
				t.Errorf("exit code %d, asked %t, stderr %q, stdout:\n%s", code, asked, &stderr, &stdout)
			}
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
			expect.That(t, strings.HasSuffix(stdout.String(), shown),
				"pause %d: want %q at the end of\n%s", i+1, shown, &stdout)
			fmt.Fprintln(stdin)
		}
		code := <-ended
		expect.That(t, code == 0, "exit code %d, stderr %q, stdout:\n%s", code, &stderr, &stdout)
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
			expect.That(t, strings.Contains(stdout, want), "stdout lacks %q", want)
		}
		expect.That(t, code == 0 && strings.HasPrefix(stderr, `> somebody rings: the step offers no action`),
			"exit code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
	})
}

// openCluster is one whose kubectl is somewhere.
type openCluster struct{ silentCluster }

func (openCluster) KubectlCommand() string { return "/w/kubectl -n informer-x" }
func (openCluster) File(_ fs.FS, name string) (string, error) {
	if name != "web.yaml" {
		return "", fs.ErrNotExist
	}
	return "/my clone/" + name, nil
}

// Each command runs in any folder, on a machine that has curl and grep, but no jq.
func TestWhatFollowSuggests(t *testing.T) {
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
		c.Connect = func(context.Context) (Cluster, error) { return openCluster{}, nil }
		_, stdout, _ := run(ctx, c, "", "toy", "-follow")
		want := `Try these in another terminal:
  /w/kubectl -n informer-x create -f '/my clone/web.yaml'
  /w/kubectl -n informer-x create -f lost.yaml
  curl -s 'http://example.com/informer-x/pods'
  curl -s 'http://example.com/metrics' | grep -E '^up|^down'
Ctrl-C ends it.
`
		if !strings.Contains(stdout, want) {
			t.Errorf("got\n%s\nwant\n%s", stdout, want)
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
		expect.That(t, code == exitOK && strings.HasPrefix(stderr, want), "exit code %d, stderr\n%s", code, stderr)
	})
}
