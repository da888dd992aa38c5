package main

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/play"
)

// callsOf is the output of a step. It checks that the goroutine of a registration prints the calls
// of its handler.
type callsOf struct {
	io.Writer
	t *testing.T
}

func (c callsOf) Write(line []byte) (int, error) {
	stack := make([]byte, 1<<16)
	stack = stack[:runtime.Stack(stack, false)]
	if bytes.HasPrefix(line, []byte("On")) && !bytes.Contains(stack, []byte("processor.(*Registration).run")) {
		c.t.Errorf("the goroutine of the registration does not make this call: %s", line)
	}
	return c.Writer.Write(line)
}

// Each handler that joins gets the present pods itself, and nobody gets them a second time.
func TestTwoHandlersJoinLate(t *testing.T) {
	twice := play.Chapter{
		Name: chapter.Name,
		Steps: []play.Step{{Name: "late", Run: func(ctx context.Context, l *play.Lesson) error {
			l.Out = callsOf{l.Out, t}
			return stepLate(ctx, l)
		}}},
		Files: fstest.MapFS{"testdata/late.txt": {Data: []byte(strings.Join([]string{
			"> pod1 is created, and begins to run",
			"> a handler joins",
			"OnAdd : pod1 : Running (initial list: true)",
			"the handler has synced",
			"> a handler joins",
			"OnAdd : pod1 : Running (initial list: true)",
			"the handler has synced",
			"",
		}, "\n"))}},
	}
	synctest.Test(t, func(t *testing.T) {
		if err := twice.CheckStep(t.Context(), "late", time.Minute, func(string) {}); err != nil {
			t.Error(err)
		}
	})
}

// A waitHook is a context that calls a function when a program begins to wait with it: the first
// thing that cache.WaitFor does is to look for a logger.
type waitHook struct {
	context.Context
	waits func()
}

func (w waitHook) Value(key any) any {
	w.waits()
	return w.Context.Value(key)
}

// A lineWriter takes lines, one with each Write.
type lineWriter chan string

func (w lineWriter) Write(line []byte) (int, error) {
	w <- strings.TrimSpace(string(line))
	return len(line), nil
}

// A handler has joined, and has not had its first call yet. Now pod1 ends. This change does not
// wait for the handler. The handler gets pod1 as it was when it joined, and then the change.
func TestAPodChangesBeforeTheFirstCallOfALateHandler(t *testing.T) {
	// With one processor, the goroutine of the handler seldom runs before the step waits for it.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 20 {
		changeBeforeTheFirstCall(t)
		if t.Failed() {
			return
		}
	}
}

func changeBeforeTheFirstCall(t *testing.T) {
	lines := lineWriter(newLines())
	l := &play.Lesson{Out: lines}
	var joins atomic.Bool
	change := sync.OnceFunc(func() {
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			l.Do("pod1 ends, and pod2 is created")
		}()
		select {
		case <-changed:
		case <-time.After(10 * time.Second): // only ends a hang
			t.Error("a change waits until the new handler has all pods, want that no change waits for a handler")
		}
	})
	stop := must.Run(t, func(ctx context.Context) {
		err := stepLate(waitHook{ctx, func() {
			if joins.Load() {
				change()
			}
		}}, l)
		if err != nil {
			t.Errorf("the step returned the error %v, want none", err)
		}
	})
	defer stop()
	must.Until(t, "the step offers its actions", func() bool { return l.Do("pod1 is created, and begins to run") })
	joins.Store(true)
	l.Do("a handler joins")
	change() // in case that the step waits in another way

	want := []string{
		"OnAdd : pod1 : Running (initial list: true)",
		"OnUpdate : pod1 : Succeeded (was Running)",
		"OnAdd : pod2 : Pending (initial list: false)",
	}
	var got []string
	for deadline := time.After(time.Minute); len(got) < len(want); {
		select {
		case line := <-lines:
			if strings.HasPrefix(line, "On") {
				got = append(got, line)
			}
		case <-deadline:
			t.Fatalf("the handler got only the calls\n%s\nin a minute, want\n%s",
				strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the handler got the calls\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
