package survival

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

const (
	poll = 50 * time.Millisecond

	// patience is how long a scenario waits for what the controller must do. It only ends the wait for
	// what does not come: a right controller never needs all of it.
	patience = time.Minute
)

// A runner runs a controller in a namespace of its own, changes objects there, and checks.
type runner struct {
	*environment
	*session.Session // the test's own connection, which does not go through the wire

	t       *testing.T
	ctx     context.Context
	began   time.Time
	dynamic dynamic.Interface
	wire    fault.Requests // of all starts of the controller
	proxy   *fault.Proxy
	starts  []*running
	now     *running // nil if the controller does not run
}

func newRunner(t *testing.T, e *environment) *runner {
	t.Helper()
	r := &runner{environment: e, Session: sessiontest.Open(t), t: t, ctx: t.Context(), began: time.Now()}
	var err error
	r.dynamic, err = dynamic.NewForConfig(r.Config)
	must.NoError(t, err)
	r.proxy, err = fault.For(r.Config)
	must.NoError(t, err)
	t.Cleanup(r.proxy.Close)
	t.Cleanup(r.removeFinalizers)
	t.Cleanup(r.end)
	return r
}

// until waits until check finds nothing wrong. It ends the scenario if that takes too long, or if the
// controller returns although its context has not ended.
func (r *runner) until(check func() error) {
	r.t.Helper()
	// The pauses of a right controller double: it may pause for as long as the scenario has lasted.
	limit := patience + 2*time.Since(r.began)
	var returned chan struct{}
	if r.now != nil {
		returned = r.now.returned
	}
	for deadline := time.Now().Add(limit); ; {
		wrong := check()
		if wrong == nil {
			return
		}
		select {
		case <-returned:
			r.t.Fatalf("the controller has returned %v, and %v", r.now.err, wrong)
		case <-time.After(poll):
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("not within %v: %v", limit, wrong)
		}
	}
}

// A running is one start of the controller.
type running struct {
	requests fault.Requests
	cancel   context.CancelFunc

	returned   chan struct{}
	err        error     // the fields below are set when returned is closed
	unfinished []request // the writes that had no answer when the controller returned
	mark       int       // for the requests after that
}

func (s *running) hasReturned() bool {
	select {
	case <-s.returned:
		return true
	default:
		return false
	}
}

// start starts the controller.
func (r *runner) start() {
	ctx, cancel := context.WithCancel(r.ctx)
	s := &running{cancel: cancel, returned: make(chan struct{})}
	config := rest.CopyConfig(r.Config)
	config.Dial = r.proxy.Dial
	config.ContentType = "application/json" // the wire reads names in it; client-go would take protobuf
	config.Wrap(r.wire.Wrap)
	config.Wrap(s.requests.Wrap)
	r.now = s
	r.starts = append(r.starts, s)
	go func() {
		defer close(s.returned)
		s.err = r.Start(ctx, config, r.Namespace)
		s.unfinished = s.requests.Find(0, func(sent *request) bool { return isWrite(sent) && sent.Ended.IsZero() })
		s.mark = s.requests.Mark()
	}()
}

// stop ends the context of the controller, and waits until it has returned.
func (r *runner) stop() {
	r.t.Helper()
	ending := r.now
	r.now = nil
	ending.cancel()
	select {
	case <-ending.returned:
	case <-time.After(patience):
		r.t.Fatalf("the controller has not returned within %v after the end of its context", patience)
	}
	if ending.err != nil && !errors.Is(ending.err, context.Canceled) {
		r.t.Errorf("the controller has returned the error %v, want nil after the end of its context", ending.err)
	}
	for _, sent := range ending.unfinished {
		r.t.Errorf("the controller has returned while one of its writes had no answer: %s", sent)
	}
}

// end stops the controller after a scenario. None of its starts must have sent a write after its end.
func (r *runner) end() {
	if r.now != nil {
		r.stop()
	}
	for _, s := range r.starts {
		for _, sent := range s.requests.Find(s.mark, func(sent *request) bool { return sent.Verb.Writes() }) {
			r.t.Errorf("after it has returned, the controller has sent: %s", sent)
		}
	}
}

// begin starts the controller with the object and the second object, and waits until all is done for
// both.
func (r *runner) begin() {
	r.t.Helper()
	r.beginWith(r.object, r.second)
}

// beginWith starts the controller with some objects, and waits until all is done for them.
func (r *runner) beginWith(families ...*family) {
	r.t.Helper()
	r.start()
	for _, f := range families {
		r.create(f.object)
	}
	for _, f := range families {
		r.untilDone(f)
	}
}

// fence lets the controller do something else, three times. What has happened before, the
// controller has then had the time to handle.
func (r *runner) fence() {
	r.t.Helper()
	for range 3 {
		r.repair(r.second, r.second.children[0])
	}
}

// letAnotherWork is a fence for a controller that must do nothing at all. It starts the controller once
// more, beside the start that runs, lets it work and ends it. The first one had at least as much time.
func (r *runner) letAnotherWork() {
	r.t.Helper()
	first := r.now
	r.start()
	r.fence()
	r.stop()
	r.now = first
}

// repair deletes a child of an object, and waits until the controller has made it again.
func (r *runner) repair(f *family, child *unstructured.Unstructured) {
	r.t.Helper()
	before := r.mustGet(child)
	r.remove(child)
	r.until(func() error {
		if found, err := r.get(child); err == nil && found.GetUID() == before.GetUID() {
			return fmt.Errorf("%s is still there", describe(child))
		}
		return r.complete(f)
	})
}

// needs skips a scenario if the description of the controller has no such value.
func (r *runner) needs(what, value string) {
	if value == "" {
		r.t.Skipf("the description of the controller has no %s", what)
	}
}
