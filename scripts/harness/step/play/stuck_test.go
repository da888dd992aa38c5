// Tests of commands and actions that do not return.

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

// stuck returns a step with an action that does not return before the end of the test.
func stuck(t *testing.T) Step {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	return Step{Run: func(ctx context.Context, env *Env) error {
		fmt.Fprintln(env.Out, "the door is there")
		env.On("somebody leans on the door", func() {
			fmt.Fprintln(env.Out, "it creaks")
			<-never
		})
		<-ctx.Done()
		return nil
	}}
}

const stuckTranscript = "the door is there\n> somebody leans on the door\nit opens\n> somebody knocks\n"

// The play ends, and the error has the action and the lines so far.
func TestAnActionThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := check(t.Context(), stuck(t), stuckTranscript)
		if took, limit := time.Since(began), defaultPatience+settleTimeout; took > limit {
			t.Errorf("the play took %v, want %v at most", took, limit)
		}
		wantStuck(t, err, "> somebody leans on the door: after 10s: it did not return", "-it opens\n+it creaks")
	})
}

// wantStuck wants an error with these texts, and without the action "somebody knocks", which was
// not played.
func wantStuck(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		wantError(t, err, text)
	}
	if err != nil && strings.Contains(err.Error(), "knocks") {
		t.Errorf("got error %v\nwant nothing about the action that was not played", err)
	}
}

// silentCluster is a cluster whose kubectl gets no answer.
type silentCluster struct{ Cluster }

func (silentCluster) Namespace() string           { return "informer-x" }
func (silentCluster) Watching() bool              { return true }
func (silentCluster) FindKubectl() error          { return nil }
func (silentCluster) Explain(err error) error     { return err }
func (silentCluster) Close(context.Context) error { return nil }
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
			c.Connect = func(context.Context, time.Duration) (Cluster, error) { return silentCluster{}, nil }
			wantStuck(t, c.checkStep(t.Context(), c.Steps[0].Name, time.Second, func(string) {}),
				strings.TrimSpace(line)+": after 1s: it did not return")
		})
	}
}

// Such a program is never silent, so that the player would wait forever.
func TestAProgramThatPrintsForever(t *testing.T) {
	tick := Step{Run: func(ctx context.Context, env *Env) error {
		env.On("somebody winds it up", func() {})
		for ; ctx.Err() == nil; time.Sleep(settleTimeout / 2) {
			fmt.Fprintln(env.Out, "tick")
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
				wantError(t, check(ctx, tick, transcript), "after 5m0s: it still prints")
			})
		})
	}
}

// A server accepts a request and does not answer it.
func TestCurlGetsNoAnswer(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers int32 // how many requests the server answers
		texts   []string
	}{
		{
			name: "to its first request", answers: 0,
			texts: []string{"$ curl -s 'http://ADDRESS/': after 3s: it did not return", "-hello"},
		},
		{name: "to its second request", answers: 1, texts: []string{"-hello\n+not yet"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				c := chapterOf(serving, "serving\n$ curl -s 'http://ADDRESS/'\nhello\n")
				c.network = handler(func(w http.ResponseWriter, r *http.Request) {
					if asked.Add(1) > test.answers {
						<-r.Context().Done()
					}
					fmt.Fprintln(w, "not yet")
				})
				wantStuck(t, c.checkStep(t.Context(), c.Steps[0].Name, 3*settleTimeout, func(string) {}), test.texts...)
			})
		})
	}
}
