// Tests of -json.

package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/informer/scripts/harness/record"
)

// withNamespace is a cluster with a namespace, and nothing else.
func withNamespace(context.Context, time.Duration) (Cluster, error) { return silentCluster{}, nil }

// wantEvents wants these lines of JSON on stdout, after the one that begins the step.
func wantEvents(t *testing.T, stdout string, want ...string) {
	t.Helper()
	begin := `{"event":"begin","chapter":"99-toy","step":"toy","title":"a step for tests"}` + "\n"
	if want := begin + strings.Join(want, "\n") + "\n"; stdout != want {
		t.Errorf("stdout is\n%s\nwant\n%s", stdout, want)
	}
}

// events returns the events that stdout has.
func events(t *testing.T, stdout string) (all []event) {
	t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(stdout)); decoder.More(); {
		var e event
		if err := decoder.Decode(&e); err != nil {
			t.Fatalf("stdout has something other than events: %v:\n%s", err, stdout)
		}
		all = append(all, e)
	}
	return all
}

func TestJSON(t *testing.T) {
	chatty := says("second : a", "first : <b>", "second : c")
	chatty.Speakers = []string{"first", "second"}
	repeating := says("un", "un", "deux")
	repeating.Fold = true
	quiet := Step{Run: func(ctx context.Context, _ *Env) error {
		<-ctx.Done()
		return nil
	}}
	atHome := chapterOf(says("I live in informer-x"), "$ go run ./99-toy toy\nI live in NAMESPACE\n")
	atHome.Connect = withNamespace
	homeless := atHome
	homeless.Connect = func(context.Context, time.Duration) (Cluster, error) {
		return nil, errors.New("no cluster chosen:\nstart one")
	}
	served := chapterOf(serving, "serving\n$ curl -s 'http://ADDRESS/'\nhello\n")
	served.network = handler(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	for _, test := range []struct {
		name    string
		chapter Chapter
		code    int
		want    []string
	}{
		{
			name:    "a program until it is stopped",
			chapter: chapterOf(door("knock"), "$ go run ./99-toy toy\n"+doorTranscript),
			want: []string{
				`{"event":"command","at":1,"text":"$ go run ./99-toy toy"}`,
				`{"event":"line","n":1,"text":"the door is there"}`,
				`{"event":"block","at":1,"verdict":"ok","through":1,` +
					`"rows":[{"verdict":"ok","text":"the door is there","at":2}]}`,
				`{"event":"command","at":3,"text":"> somebody knocks"}`,
				`{"event":"line","n":2,"text":"knock"}`,
				`{"event":"block","at":3,"verdict":"ok","through":2,"rows":[{"verdict":"ok","text":"knock","at":4}]}`,
				`{"event":"command","at":5,"text":"> somebody knocks"}`,
				`{"event":"line","n":3,"text":"knock"}`,
				`{"event":"block","at":5,"verdict":"ok","through":3,"rows":[{"verdict":"ok","text":"knock","at":6}]}`,
				`{"event":"command","at":7,"text":"^C"}`,
				`{"event":"line","n":4,"text":"the door is gone"}`,
				`{"event":"block","at":7,"verdict":"ok","through":4,` +
					`"rows":[{"verdict":"ok","text":"the door is gone","at":8}]}`,
				`{"event":"end","verdict":"ok"}`,
			},
		},
		{
			name:    "a line that the reader has changed",
			chapter: chapterOf(says("un", "two", "trois"), "un\ndeux\ntrois\n"),
			code:    exitFailed,
			want: []string{
				`{"event":"line","n":1,"text":"un"}`,
				`{"event":"line","n":2,"text":"two"}`,
				`{"event":"line","n":3,"text":"trois"}`,
				`{"event":"block","verdict":"differs","through":3,"rows":[{"verdict":"ok","text":"un","at":1},` +
					`{"verdict":"differs","text":"two","want":"deux","at":2},{"verdict":"ok","text":"trois","at":3}]}`,
				`{"event":"end","verdict":"differs","difference":"@@ -1,3 +1,3 @@\n un\n-deux\n+two\n trois"}`,
			},
		},
		{
			name:    "several speakers: each line as it comes, then in order",
			chapter: chapterOf(chatty, "first : <b>\nsecond : a\nsecond : c\n"),
			want: []string{
				`{"event":"line","n":1,"text":"second : a"}`,
				`{"event":"line","n":2,"text":"first : <b>"}`,
				`{"event":"line","n":3,"text":"second : c"}`,
				`{"event":"block","verdict":"ok","through":3,"rows":[{"verdict":"ok","text":"first : <b>","at":1},` +
					`{"verdict":"ok","text":"second : a","at":2},{"verdict":"ok","text":"second : c","at":3}]}`,
				`{"event":"end","verdict":"ok"}`,
			},
		},
		{
			name:    "the answer of a command",
			chapter: served,
			want: []string{
				`{"event":"value","name":"ADDRESS","text":"example.com"}`,
				`{"event":"line","n":1,"text":"serving"}`,
				`{"event":"block","verdict":"ok","through":1,"rows":[{"verdict":"ok","text":"serving","at":1}]}`,
				`{"event":"command","at":2,"text":"$ curl -s 'http://ADDRESS/'"}`,
				`{"event":"block","at":2,"verdict":"ok","through":1,"rows":[{"verdict":"ok","text":"hello","at":3}]}`,
				`{"event":"end","verdict":"ok"}`,
			},
		},
		{
			name:    "a cluster",
			chapter: atHome,
			want: []string{
				`{"event":"cluster","state":"connecting"}`,
				`{"event":"cluster","state":"ready"}`,
				`{"event":"value","name":"NAMESPACE","text":"informer-x"}`,
				`{"event":"command","at":1,"text":"$ go run ./99-toy toy"}`,
				`{"event":"line","n":1,"text":"I live in NAMESPACE"}`,
				`{"event":"block","at":1,"verdict":"ok","through":1,` +
					`"rows":[{"verdict":"ok","text":"I live in NAMESPACE","at":2}]}`,
				`{"event":"end","verdict":"ok"}`,
			},
		},
		{
			name:    "no cluster",
			chapter: homeless,
			code:    exitFailed,
			want: []string{
				`{"event":"cluster","state":"connecting"}`,
				`{"event":"cluster","state":"none","text":"no cluster chosen:\nstart one"}`,
				`{"event":"end","verdict":"failed","error":"no cluster chosen:\nstart one"}`,
			},
		},
		{
			name:    "an action that nobody offers",
			chapter: chapterOf(quiet, "> somebody rings\nding\n"),
			code:    exitFailed,
			want: []string{
				`{"event":"block","verdict":"ok"}`,
				`{"event":"command","at":1,"text":"> somebody rings"}`,
				`{"event":"block","at":1,"verdict":"differs","rows":[{"verdict":"missing","want":"ding","at":2}]}`,
				`{"event":"end","verdict":"failed","error":"> somebody rings: the step offers no action ` +
					`\"somebody rings\"; it offers []"}`,
			},
		},
		{
			name: "a line does not come, and another one too many",
			chapter: chapterOf(door("knock"), "the door is there\n> the wind blows\nit creaks\n"+
				"> somebody knocks\nknock\n"),
			code: exitFailed,
			want: []string{
				`{"event":"line","n":1,"text":"the door is there"}`,
				`{"event":"block","verdict":"ok","through":1,` +
					`"rows":[{"verdict":"ok","text":"the door is there","at":1}]}`,
				`{"event":"command","at":2,"text":"> the wind blows"}`,
				`{"event":"wait","for":"line","text":"it creaks"}`,
				`{"event":"block","at":2,"verdict":"differs","through":1,` +
					`"rows":[{"verdict":"missing","want":"it creaks","at":3}]}`,
				`{"event":"command","at":4,"text":"> somebody knocks"}`,
				`{"event":"line","n":2,"text":"knock"}`,
				`{"event":"block","at":4,"verdict":"ok","through":2,"rows":[{"verdict":"ok","text":"knock","at":5}]}`,
				`{"event":"line","n":3,"text":"the door is gone"}`,
				`{"event":"block","at":4,"verdict":"differs","through":3,` +
					`"rows":[{"verdict":"ok","text":"knock","at":5},{"verdict":"extra","text":"the door is gone"}]}`,
				`{"event":"end","verdict":"differs","difference":"@@ -1,5 +1,5 @@\n the door is there\n` +
					` > the wind blows\n-it creaks\n > somebody knocks\n knock\n+the door is gone"}`,
			},
		},
		{
			name:    "a program that should return, and does not",
			chapter: chapterOf(door("knock"), "the door is here\n"),
			code:    exitFailed,
			want: []string{
				`{"event":"line","n":1,"text":"the door is there"}`,
				`{"event":"block","verdict":"differs","through":1,` +
					`"rows":[{"verdict":"differs","text":"the door is there","want":"the door is here","at":1}]}`,
				`{"event":"line","n":2,"text":"the door is gone"}`,
				`{"event":"block","verdict":"differs","through":2,"rows":[{"verdict":"differs",` +
					`"text":"the door is there","want":"the door is here","at":1},` +
					`{"verdict":"extra","text":"the door is gone"}]}`,
				`{"event":"end","verdict":"failed","difference":"@@ -1 +1,2 @@\n-the door is here\n` +
					`+the door is there\n+the door is gone","error":"after 10s: it printed nothing more, and did not ` +
					`return: its context was canceled"}`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				code, stdout, stderr := run(t.Context(), test.chapter, "", "toy", "-json")
				wantCode(t, code, test.code, stderr)
				wantEvents(t, stdout, test.want...)
				if stderr != "" {
					t.Errorf("stderr is %q, want nothing: all is on stdout", stderr)
				}
			})
		})
	}
	t.Run("folded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, stdout, _ := run(t.Context(), chapterOf(repeating, "un\ndeux\n"), "", "toy", "-json")
			all := events(t, stdout)
			if first := all[0]; !first.Folds {
				t.Errorf("the step begins with %+v, want folds", first)
			}
			if block := all[len(all)-2]; block.Verdict != isOK || block.Through != 3 || len(block.Rows) != 2 {
				t.Errorf("the block is %+v, want that it is ok, and that two rows stand for three lines", block)
			}
		})
	})
}

// When the user stops the step, no line is missing, and no line is wrong.
func TestJSONStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), settleTimeout)
		defer stop()
		c := chapterOf(door("knock"), "the door is there\n> somebody knocks\nknock\nnever\n")
		code, stdout, stderr := run(ctx, c, "", "toy", "-json")
		wantCode(t, code, exitInterrupted, stderr)
		wantSuffix := `{"event":"block","at":2,"verdict":"stopped","through":3,"rows":[` +
			`{"verdict":"ok","text":"knock","at":3},{"verdict":"stopped","text":"the door is gone"}]}` + "\n" +
			`{"event":"end","verdict":"stopped"}` + "\n"
		if !strings.HasSuffix(stdout, wantSuffix) {
			t.Errorf("stdout is\n%s\nwant at its end\n%s", stdout, wantSuffix)
		}
	})
}

// The player does not say that there is no cluster when the user stops it while it connects.
func TestJSONStoppedBeforeItIsConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), settleTimeout)
		defer stop()
		c := chapterOf(door("knock"), doorTranscript)
		c.Connect = func(ctx context.Context, _ time.Duration) (Cluster, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		code, stdout, stderr := run(ctx, c, "", "toy", "-json")
		wantCode(t, code, exitInterrupted, stderr)
		wantEvents(t, stdout, `{"event":"cluster","state":"connecting"}`, `{"event":"end","verdict":"stopped"}`)
	})
}

func TestJSONPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enter, stdin := io.Pipe()
		defer stdin.Close()
		var stdout, stderr record.Buffer
		ended := make(chan int, 1)
		go func() {
			c := chapterOf(door("knock"), doorTranscript)
			ended <- c.run(t.Context(), []string{"-json", "-pause"}, enter, &stdout, &stderr)
		}()
		for _, command := range []string{"> somebody knocks", "> somebody knocks", "^C"} {
			synctest.Wait() // until everything waits for Enter
			all := events(t, stdout.String())
			given, wait := all[len(all)-2], all[len(all)-1]
			if given.Event != commandEvent || given.Text != command || wait.Event != waitEvent || wait.For != forEnter {
				t.Errorf("the last events are %+v\n%+v\nwant the command %q, and that the player waits for Enter",
					given, wait, command)
			}
			fmt.Fprintln(stdin)
		}
		wantCode(t, <-ended, exitOK, stderr.String())
	})
}

func TestJSONFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, ctrlC := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, ctrlC)
		c := chapterOf(door("knock"), doorTranscript)
		code, stdout, stderr := run(ctx, c, "> somebody rings\n", "toy", "-follow", "-json")
		synctest.Wait()
		wantCode(t, code, exitOK, stderr)
		for _, want := range []string{
			`{"event":"line","n":1,"text":"the door is there"}`,
			`{"event":"note","text":"Type these here:\n  somebody knocks\nCtrl-C ends it."}`,
			`{"event":"warning","text":"> somebody rings: the step offers no action`,
			`{"event":"end","verdict":"ok"}`,
		} {
			wantContains(t, "stdout", stdout, want)
		}
	})
}

// A step cannot flood its reader.
func TestJSONIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		floods := Step{Run: func(_ context.Context, env *Env) error {
			for range maxLines + 100 {
				fmt.Fprintln(env.Out, strings.Repeat("é\x01", maxText))
			}
			return errors.New(strings.Repeat("e", 2*maxLong))
		}}
		_, stdout, _ := run(t.Context(), chapterOf(floods, ""), "", "toy", "-json")
		kinds := map[string]int{}
		for _, e := range events(t, stdout) {
			kinds[e.Event]++
			if limit := maxText + len("…"); len(e.Text) > limit {
				t.Errorf("%s has a text of %d bytes, want %d at most", e.Event, len(e.Text), limit)
			}
			if limit := maxLong + len("…"); len(e.Error) > limit {
				t.Errorf("%s has an error of %d bytes, want %d at most", e.Event, len(e.Error), limit)
			}
			if more := maxLines + 100 - maxRows; e.Event == blockEvent && (len(e.Rows) != maxRows || e.More != more) {
				t.Errorf("the block has %d rows, and %d more; want %d, and %d more", len(e.Rows), e.More, maxRows, more)
			}
		}
		if kinds[lineEvent] != maxLines || kinds[warningEvent] != 1 || kinds[endEvent] != 1 {
			t.Errorf("got %d lines, %d warnings, %d ends; want %d, 1, 1",
				kinds[lineEvent], kinds[warningEvent], kinds[endEvent], maxLines)
		}
	})
}
