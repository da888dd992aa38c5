// An informer with the names of client-go's tests.

package adapter

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
)

// An Informer is our informer. It also keeps the registrations that it has returned.
type Informer struct {
	*informer.Informer

	mu      sync.Mutex
	handles []cache.ResourceEventHandlerRegistration // all
	removed []cache.ResourceEventHandlerRegistration // those of removed handlers
}

var _ cache.SharedIndexInformer = (*Informer)(nil)

// NewSharedInformer is cache.NewSharedInformer.
func NewSharedInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration) cache.SharedInformer {
	return &Informer{Informer: informer.NewWithParts(lw, example,
		cache.SharedIndexInformerOptions{ResyncPeriod: resync}, parttwo.Parts)}
}

// RunHook, if set, is called before an informer runs. client-go's hook is called before the
// processor runs. In our informer this is the same moment, because it starts the processor first.
var RunHook atomic.Pointer[func()]

// Run runs the informer.
func (i *Informer) Run(stop <-chan struct{}) {
	if hook := RunHook.Load(); hook != nil {
		(*hook)()
	}
	i.Informer.Run(stop)
}

// AddEventHandler adds a handler.
func (i *Informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod adds a handler.
func (i *Informer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler,
	resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resync})
}

// AddEventHandlerWithOptions adds a handler.
func (i *Informer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	handle, err := i.Informer.AddEventHandlerWithOptions(handler, options)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handles = append(i.handles, handle)
	return handle, err
}

// RemoveEventHandler removes a handler.
func (i *Informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.removed = append(i.removed, handle)
	return i.Informer.RemoveEventHandler(handle)
}

// IsStarted says whether an informer has been started. An informer that was started refuses a new
// transform. An informer that was not started loses its transform.
func IsStarted(i cache.SharedInformer) bool { return i.SetTransform(nil) != nil }

// IsRegistered says whether an informer has returned this registration, and the registration has
// not ended. If the handler was removed, IsRegistered waits for the end of its registration.
// Otherwise it waits for a second, in which the registration must not end.
func IsRegistered(i cache.SharedInformer, handle cache.ResourceEventHandlerRegistration) bool {
	return slices.Contains(i.(*Informer).registered(), handle)
}

// EventHandlerCount is the number of such registrations.
func EventHandlerCount(i cache.SharedInformer) int { return len(i.(*Informer).registered()) }

// registered returns the registrations that have not ended.
func (i *Informer) registered() (handles []cache.ResourceEventHandlerRegistration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var grace time.Duration // before an informer runs, its registrations do not end
	if IsStarted(i) {
		grace = time.Second
	}
	short, cancelShort := context.WithTimeout(context.Background(), grace)
	defer cancelShort()
	long, cancelLong := context.WithTimeout(context.Background(), time.Minute)
	defer cancelLong()
	for _, handle := range i.handles {
		ctx := short
		if slices.Contains(i.removed, handle) {
			ctx = long
		}
		if !hasEnded(ctx, handle) {
			handles = append(handles, handle)
		}
	}
	return handles
}

// hasEnded waits until a registration has ended, or until ctx ends. It says whether the
// registration has ended.
func hasEnded(ctx context.Context, handle cache.ResourceEventHandlerRegistration) bool {
	ended := handle.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
	}
	select { // both may have happened
	case <-ended:
		return true
	default:
		return false
	}
}

// RealTime replaces the fake clock of client-go's tests. Our informer has no field for a clock.
type RealTime struct{}

// Step sleeps.
func (RealTime) Step(d time.Duration) { time.Sleep(d) }
