// What the player does with a command or an action that does not return.

package play

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a step with an action that does not return before the end of the test.
func stuck(t *testing.T) Step {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	return Step{Run: func(ctx context.Context, l *Lesson) error {
		fmt.Fprintln(l.Out, "the door is there")
		l.On("somebody leans on the door", func() {
			fmt.Fprintln(l.Out, "it creaks")
			<-never
		})
		<-ctx.Done()
		return nil
	}}
}

const stuckTranscript = "the door is there\n> somebody leans on the door\nit opens\n> somebody knocks\n"

// The play ends with what is known: the action, and the lines so far.
func TestAnActionThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := check(t.Context(), stuck(t), stuckTranscript)
		if took := time.Since(began); took > quiet+settling {
			t.Errorf("took %v", took)
		}
		wantStuck(t, err, "> somebody leans on the door: after 10s: it did not return", "-it opens\n+it creaks")
	})
}

// wantStuck wants an error with these texts, and nothing of what was not played.
func wantStuck(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "knocks") {
			t.Errorf("got %v\nwant %q", err, text)
		}
	}
}

// silentCluster is one whose kubectl gets no answer.
type silentCluster struct{ Cluster }

func (silentCluster) Namespace() string                 { return "informer-x" }
func (silentCluster) Watching() bool                    { return true }
func (silentCluster) FindKubectl(context.Context) error { return nil }
func (silentCluster) Explain(err error) error           { return err }
func (silentCluster) Close(context.Context) error       { return nil }
func (silentCluster) Kubectl(ctx context.Context, _ fs.FS, _ string, _ ...string) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestKubectlGetsNoAnswer(t *testing.T) {
	const line = "$ kubectl run nettool --image=registry.k8s.io/pause:3.10.2\n"
	for _, transcript := range []string{
		line + "$ go run ./99-toy toy\n> somebody knocks\n",
		"the door is there\n" + line + "> somebody knocks\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := chapterOf(door("knock"), transcript)
			c.Connect = func(context.Context) (Cluster, error) { return silentCluster{}, nil }
			wantStuck(t, c.Check(t.Context(), c.Steps[0], time.Second, func(string) {}),
				strings.TrimSpace(line)+": after 1s: it did not return")
		})
	}
}

// It is never silent, so that the play never goes on.
func TestAProgramThatPrintsForEver(t *testing.T) {
	tick := Step{Run: func(ctx context.Context, l *Lesson) error {
		l.On("somebody winds it up", func() {})
		for ; ctx.Err() == nil; time.Sleep(settling / 2) {
			fmt.Fprintln(l.Out, "tick")
		}
		return nil
	}}
	for name, transcript := range map[string]string{
		"until it is stopped": "tick\n> somebody winds it up\ntock\n",
		"to its end":          "tick\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				want(t, check(ctx, tick, transcript), "after 5m0s: it still prints")
			})
		})
	}
}

// A server takes a request and does not answer: the first one, or the second.
func TestCurlGetsNoAnswer(t *testing.T) {
	for answers, wants := range [][]string{
		{"$ curl -s 'http://ADDRESS/': after 3s: it did not return", "-hello"},
		{"-hello\n+not yet"},
	} {
		t.Run(fmt.Sprint(answers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				c := chapterOf(serving, "serving\n$ curl -s 'http://ADDRESS/'\nhello\n")
				c.network = handler(func(w http.ResponseWriter, r *http.Request) {
					if int(asked.Add(1)) > answers {
						<-r.Context().Done()
					}
					fmt.Fprintln(w, "not yet")
				})
				wantStuck(t, c.Check(t.Context(), c.Steps[0], 3*settling, func(string) {}), wants...)
			})
		})
	}
}
