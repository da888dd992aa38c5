package processor

import (
	"context"
	"iter"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/observer"
)

// pauseAfterPanic is how long a handler that has panicked is left alone.
const pauseAfterPanic = time.Second

// Options of a registration.
type Options struct {
	// Name is what the registration is called while somebody waits for it to sync.
	Name string

	// ResyncPeriod is how often the handler wants to be notified of all objects
	// again. Default: never.
	ResyncPeriod time.Duration

	// Present is what the handler is notified of first. It is read by the handler's
	// own goroutine, once, when there is time. Default: nothing.
	Present iter.Seq[Notification]

	// Logger logs the handler's panics. Default: klog.Background().
	Logger *klog.Logger
}

// A Registration is a handler's membership in a Processor.
type Registration struct {
	handler    cache.ResourceEventHandler
	options    Options
	observer   observer.Observer // nil if there is none, and until the processor has started
	listener   Listener          // nil until the processor has started
	nextResync time.Time         // guarded by the processor's mu, as the listener

	panicked bool // the last call did; for run alone

	done        chan struct{} // closed by end: run does not wait, and decides on no further call
	synced      chan struct{} // closed when the handler has returned from the initial list
	runFinished chan struct{} // closed when no call is under way, and none will be
}

var (
	_ cache.ResourceEventHandlerRegistration = (*Registration)(nil)
	_ cache.DoneChecker                      = (*Registration)(nil)
)

func newRegistration(handler cache.ResourceEventHandler, options Options) *Registration {
	if options.Logger == nil {
		logger := klog.Background()
		options.Logger = &logger
	}
	return &Registration{
		handler: handler, options: options,
		nextResync: time.Now().Add(options.ResyncPeriod),
		done:       make(chan struct{}), synced: make(chan struct{}), runFinished: make(chan struct{}),
	}
}

// run calls the handler until the registration ends. PresentIsAll says that what
// is present is the whole of the initial list.
func (r *Registration) run(presentIsAll bool) {
	defer close(r.runFinished)
	defer r.listener.Close() // a handler can end this goroutine: runtime.Goexit
	if !r.deliverPresent() {
		return
	}
	if presentIsAll {
		close(r.synced)
	}
	for batch := r.listener.Next(); batch != nil; batch = r.listener.Next() {
		for i := range batch {
			switch n := &batch[i]; {
			case n.Kind == synced:
				close(r.synced)
			case n.isNotFor(r.listener):
			case !r.ready():
				return
			default:
				r.panicked = r.call(n, batch[i+1:])
			}
		}
	}
}

func (r *Registration) deliverPresent() (ready bool) {
	if r.options.Present == nil {
		return true
	}
	defer func() { r.options.Present = nil }() // or it would be kept alive
	for n := range r.options.Present {
		if !r.ready() {
			return false
		}
		r.panicked = r.call(&n, nil)
	}
	return true
}

// ready decides whether the next call is made: not if the registration ends, and
// not before the pause is over, if the last call panicked.
func (r *Registration) ready() bool {
	if r.panicked {
		select {
		case <-time.After(pauseAfterPanic):
		case <-r.done:
		}
	}
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// call calls the handler, and survives it. A panic goes to utilruntime's
// PanicHandlers, where programs put their crash reporting; the first of them
// logs it. After is what comes next.
func (r *Registration) call(n *Notification, after []Notification) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			panicked = true
			r.options.Logger.Error(nil, "The handler panics", "object", n.Key)
			logger := r.options.Logger.WithCallDepth(panicDepth)
			for _, handle := range utilruntime.PanicHandlers {
				handle(klog.NewContext(context.Background(), logger), p)
			}
		}
	}()
	if r.observer != nil {
		r.observedCall(n, after)
	} else {
		n.deliver(r.handler)
	}
	return false
}

// observedCall calls the handler, and the observer when that has returned.
func (r *Registration) observedCall(n *Notification, after []Notification) {
	start := time.Now()
	defer func() {
		called := n.Event(observer.Called)
		called.Took = time.Since(start)
		called.Waiting = r.listener.Waiting()
		for i := range after {
			if next := &after[i]; next.Kind != synced && !next.isNotFor(r.listener) {
				called.Waiting++
			}
		}
		r.observe(called)
	}()
	n.deliver(r.handler)
}

func (r *Registration) observeFolded(saved, waiting int) {
	r.observe(observer.Event{Kind: observer.Folded, Count: saved, Waiting: waiting})
}

// observe reports an event of this registration. There is an observer.
func (r *Registration) observe(e observer.Event) {
	e.Handler, e.Registration = r.options.Name, r
	r.observer.Observe(e)
}

// panicDepth leads a log line from the PanicHandler to the line that panicked:
// over the PanicHandler, the deferred function and the runtime.
const panicDepth = 3

// end makes it leave, even if the observer panics. The caller holds the processor's mu,
// and does it once.
func (r *Registration) end() {
	defer r.leave()
	if r.observer != nil {
		r.observe(observer.Event{Kind: observer.Removed})
	}
}

func (r *Registration) leave() {
	close(r.done)
	if r.listener == nil {
		r.options.Present = nil
		close(r.runFinished)
	} else {
		r.listener.Close()
	}
}

func (r *Registration) shouldResync(now time.Time) bool {
	return r.options.ResyncPeriod > 0 && !now.Before(r.nextResync)
}

// HasSynced is true once the handler has returned from all of the initial list.
func (r *Registration) HasSynced() bool { return cache.IsDone(r) }

// HasSyncedChecker is HasSynced for callers that would rather wait.
func (r *Registration) HasSyncedChecker() cache.DoneChecker { return r }

// Name implements cache.DoneChecker.
func (r *Registration) Name() string { return r.options.Name }

// Done implements cache.DoneChecker: it is closed when HasSynced becomes true.
func (r *Registration) Done() <-chan struct{} { return r.synced }

// ShutdownChan is closed when the handler has returned for the last time.
// cache.ShutDownEventHandler waits for it.
func (r *Registration) ShutdownChan() <-chan struct{} { return r.runFinished }
