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
		Steps: []play.Step{{Name: "late", Run: func(ctx context.Context, env *play.Env) error {
			env.Out = callsOf{env.Out, t}
			return stepLate(ctx, env)
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
		if err := twice.CheckStep(t.Context(), "late", func(string) {}); err != nil {
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
	env := &play.Env{Out: lines}
	var joins atomic.Bool
	change := sync.OnceFunc(func() {
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			env.Do("pod1 ends, and pod2 is created")
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
		}}, env)
		if err != nil {
			t.Errorf("the step returned the error %v, want none", err)
		}
	})
	defer stop()
	must.Until(t, "the step offers its actions", func() bool { return env.Do("pod1 is created, and begins to run") })
	joins.Store(true)
	env.Do("a handler joins")
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

// callsByHandler is the output of a step. It keeps the calls of the handlers apart: each handler has
// a goroutine of its own.
type callsByHandler struct {
	mu    sync.Mutex
	calls map[string][]string // by the number of the goroutine
}

func (c *callsByHandler) Write(line []byte) (int, error) {
	stack := make([]byte, 64)
	stack = stack[:runtime.Stack(stack, false)] // goroutine 7 [running]: …
	goroutine := strings.Fields(string(stack))[1]
	if call := strings.TrimSpace(string(line)); strings.HasPrefix(call, "On") {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls[goroutine] = append(c.calls[goroutine], call)
	}
	return len(line), nil
}

// Handlers join while pods change all the time. No change is lost between the pods that a handler
// gets at first and the changes after that, and none comes twice.
func TestHandlersJoinWhilePodsChange(t *testing.T) {
	defer interruptOften(t)()
	for range 50 { // it takes some luck to change a pod at the wrong moment
		joinWhilePodsChange(t)
		if t.Failed() {
			return
		}
	}
}

// interruptOften makes the machine so busy that goroutines are interrupted anywhere.
func interruptOften(t *testing.T) (stop func()) {
	before := runtime.GOMAXPROCS(4 * runtime.NumCPU())
	end := must.Run(t, func(ctx context.Context) {
		var busy sync.WaitGroup
		for range 2 * runtime.NumCPU() {
			busy.Go(func() {
				for ctx.Err() == nil {
				}
			})
		}
		busy.Wait()
	})
	return func() {
		end()
		runtime.GOMAXPROCS(before)
	}
}

func joinWhilePodsChange(t *testing.T) {
	out := &callsByHandler{calls: map[string][]string{}}
	env := &play.Env{Out: out}
	stop := must.Run(t, func(ctx context.Context) {
		if err := stepLate(ctx, env); err != nil {
			t.Errorf("the step returned the error %v, want none", err)
		}
	})
	defer stop()
	must.Until(t, "the step offers its actions", func() bool { return env.Do("pod1 ends, and pod2 is created") })
	const handlers = 10
	var joining sync.WaitGroup
	var joined atomic.Int32
	for range handlers {
		joining.Go(func() {
			env.Do("a handler joins")
			joined.Add(1)
		})
	}
	for all := false; !all; {
		all = joined.Load() == handlers // before the last changes
		env.Do("pod1 is created, and begins to run")
		env.Do("pod1 ends, and pod2 is created")
	}
	joining.Wait()
	stop()
	if len(out.calls) != handlers {
		t.Errorf("%d handlers were called, want %d", len(out.calls), handlers)
	}
	for _, calls := range out.calls {
		if wantEachPhaseOfPod1(t, calls); t.Failed() {
			return // the other handlers have the same trouble
		}
	}
}

// wantEachPhaseOfPod1 checks the calls of one handler: it got pod1 at first, and then each change of
// its phase, once.
func wantEachPhaseOfPod1(t *testing.T, calls []string) {
	t.Helper()
	after := map[string]string{
		"OnAdd : pod1 : Pending":      "OnUpdate : pod1 : Running",
		"OnUpdate : pod1 : Running":   "OnUpdate : pod1 : Succeeded",
		"OnUpdate : pod1 : Succeeded": "OnAdd : pod1 : Pending",
		"OnAdd : pod1 : Running":      "OnUpdate : pod1 : Succeeded", // these two are initial
		"OnAdd : pod1 : Succeeded":    "OnAdd : pod1 : Pending",
	}
	var want string
	for i, call := range calls {
		got, rest, _ := strings.Cut(call, " (")
		switch {
		case !strings.Contains(got, "pod1"):
			continue
		case want == "" && rest != "initial list: true)":
			t.Errorf("a handler first heard of pod1 by\n%s\nwant an add of the initial list", call)
			return
		case want != "" && got != want:
			t.Errorf("a handler got the calls\n%s\nwant as the last one\n%s\nwhich is the next change of pod1",
				strings.Join(calls[max(0, i-3):i+1], "\n"), want)
			return
		}
		want = after[got]
	}
}
