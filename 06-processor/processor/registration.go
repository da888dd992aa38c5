package processor

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// Options of a registration.
type Options struct {
	// Name is what the registration is called while somebody waits for it to sync.
	Name string

	// ResyncPeriod is how often the handler wants to be told of all objects
	// again. Default: never.
	ResyncPeriod time.Duration

	// OnPanic is told when the handler has panicked, with the stack of the call.
	// It must not panic itself. Default: to log it with slog.
	OnPanic func(error)
}

// A Registration is a handler's membership in a Processor.
type Registration struct {
	handler    cache.ResourceEventHandler
	options    Options
	present    []Notification // what it is to be told first; until it listens
	listener   Listener       // nil until the processor has started
	nextResync time.Time      // guarded by the processor's mu, as the two above

	leaving atomic.Bool   // no further call begins
	synced  chan struct{} // closed when the handler has returned from the initial list
	ended   chan struct{} // closed when no call is under way, and none will be
}

var (
	_ cache.ResourceEventHandlerRegistration = (*Registration)(nil)
	_ cache.DoneChecker                      = (*Registration)(nil)
)

func newRegistration(handler cache.ResourceEventHandler, options Options, present []Notification) *Registration {
	if options.OnPanic == nil {
		options.OnPanic = func(err error) { slog.Error("processor: " + err.Error()) }
	}
	return &Registration{
		handler: handler, options: options, present: present,
		nextResync: time.Now().Add(options.ResyncPeriod),
		synced:     make(chan struct{}), ended: make(chan struct{}),
	}
}

// run calls the handler until the registration ends.
func (r *Registration) run() {
	defer close(r.ended)
	defer r.listener.Close() // a handler can end this goroutine: runtime.Goexit
	for batch := r.listener.Next(); batch != nil; batch = r.listener.Next() {
		for i := range batch {
			if r.leaving.Load() {
				return
			}
			r.take(&batch[i])
		}
	}
}

func (r *Registration) take(n *Notification) {
	switch {
	case n.Kind == synced:
		close(r.synced)
	case n.skip == nil || !n.skip[r.listener]:
		r.call(n)
	}
}

// call calls the handler, and survives it.
func (r *Registration) call(n *Notification) {
	defer func() {
		if p := recover(); p != nil {
			r.options.OnPanic(fmt.Errorf("a handler panicked, told of %s: %v\n%s", n.Key, p, debug.Stack()))
		}
	}()
	n.tell(r.handler)
}

// end makes it leave. The caller holds the processor's mu, and does it once.
func (r *Registration) end() {
	r.leaving.Store(true)
	if r.listener == nil {
		close(r.ended)
	} else {
		r.listener.Close()
	}
}

func (r *Registration) due(now time.Time) bool {
	return r.options.ResyncPeriod > 0 && !now.Before(r.nextResync)
}

// HasSynced is true once the handler has returned from all of the initial list.
func (r *Registration) HasSynced() bool { return cache.IsDone(r) }

// HasSyncedChecker is HasSynced for those who would rather wait.
func (r *Registration) HasSyncedChecker() cache.DoneChecker { return r }

// Name implements cache.DoneChecker.
func (r *Registration) Name() string { return r.options.Name }

// Done implements cache.DoneChecker: it is closed when HasSynced becomes true.
func (r *Registration) Done() <-chan struct{} { return r.synced }

// ShutdownChan is closed when the handler has returned for the last time.
// cache.ShutDownEventHandler waits for it.
func (r *Registration) ShutdownChan() <-chan struct{} { return r.ended }
