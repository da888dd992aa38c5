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

// pauseAfterPanic is the time between a call that panics and the next call of the handler.
const pauseAfterPanic = time.Second

// Options of a registration.
type Options struct {
	// Name is the name of the registration in logs.
	Name string

	// HandlerName is the name of the handler for observers. Several handlers may have the same name.
	HandlerName string

	// ResyncPeriod is the time between two resyncs of the handler. Default: no resyncs.
	ResyncPeriod time.Duration

	// Present gives the first notifications of the handler. The goroutine of the handler reads it,
	// once. Default: no notifications.
	Present iter.Seq[Notification]

	// Logger logs the handler's panics. Default: klog.Background().
	Logger *klog.Logger
}

// A Registration is a handler's membership in a Processor.
type Registration struct {
	handler    cache.ResourceEventHandler
	options    Options
	observer   observer.Observer // nil before the processor has started, or if there is no observer
	listener   Listener          // nil before the processor has started; guarded by the processor's mu
	nextResync time.Time         // guarded by the processor's mu

	panicked bool // whether the last call has panicked; only run uses it

	done        chan struct{} // closed by end: run begins no further call
	synced      chan struct{} // closed when the handler has returned from the initial list
	runFinished chan struct{} // closed when the last call has returned
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
		handler:     handler,
		options:     options,
		nextResync:  time.Now().Add(options.ResyncPeriod),
		done:        make(chan struct{}),
		synced:      make(chan struct{}),
		runFinished: make(chan struct{}),
	}
}

// run calls the handler until the registration ends. presentIsAll says that the present objects are
// the whole initial list.
func (r *Registration) run(presentIsAll bool) {
	defer close(r.runFinished)
	defer r.listener.Close() // deferred, because a handler can end this goroutine: runtime.Goexit
	if !r.deliverPresent() {
		return
	}
	if presentIsAll {
		close(r.synced)
	}
	for batch := r.listener.Next(); batch != nil; batch = r.listener.Next() {
		for i := range batch {
			n := &batch[i]
			switch {
			case n.Kind == Synced:
				close(r.synced)
			case n.IsNotFor(r.listener): // a resync of other handlers
			case !r.ready():
				return
			default:
				r.panicked = r.call(n, batch[i+1:])
			}
		}
	}
}

// deliverPresent calls the handler for the present objects. It returns false if the registration
// ends meanwhile.
func (r *Registration) deliverPresent() (ready bool) {
	if r.options.Present == nil {
		return true
	}
	defer func() { r.options.Present = nil }() // for the garbage collector
	for n := range r.options.Present {
		if !r.ready() {
			return false
		}
		r.panicked = r.call(&n, nil)
	}
	return true
}

// ready waits until the pause after a panic is over. It returns false if the registration has
// ended: then no further call is made.
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

// call calls the handler, and recovers from its panic. The panic goes to utilruntime's
// PanicHandlers, where programs put their crash reporting. The first of them logs it. after are the
// next notifications of the batch.
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

// observedCall calls the handler. When the handler has returned, it calls the observer.
func (r *Registration) observedCall(n *Notification, after []Notification) {
	start := time.Now()
	defer func() {
		called := Called{Notification: *n, Registration: r, Took: time.Since(start), Waiting: r.listener.Waiting()}
		for i := range after {
			if next := &after[i]; next.Kind != Synced && !next.IsNotFor(r.listener) {
				called.Waiting++
			}
		}
		r.observer.Observe(called)
	}()
	n.deliver(r.handler)
}

// panicDepth is the number of stack frames between the PanicHandler that logs and the line that has
// panicked: the PanicHandler, the deferred function, and the runtime.
const panicDepth = 3

// end ends the registration, even if the observer panics. The caller holds the processor's mu, and
// calls it once.
func (r *Registration) end() {
	defer r.leave()
	if r.observer != nil {
		r.observer.Observe(Removed{r})
	}
}

// leave closes the listener, which ends run. If the processor has not started, there is neither.
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

// HasSyncedChecker is HasSynced as a channel to wait for.
func (r *Registration) HasSyncedChecker() cache.DoneChecker { return r }

// HandlerName returns the name of the handler: see Options.
func (r *Registration) HandlerName() string { return r.options.HandlerName }

// Name implements cache.DoneChecker.
func (r *Registration) Name() string { return r.options.Name }

// Done implements cache.DoneChecker: it is closed when HasSynced becomes true.
func (r *Registration) Done() <-chan struct{} { return r.synced }

// ShutdownChan is closed when the handler has returned for the last time.
// cache.ShutDownEventHandler waits for it.
func (r *Registration) ShutdownChan() <-chan struct{} { return r.runFinished }
