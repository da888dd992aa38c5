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
)

// An Informer is ours, and remembers the registrations that it has given out.
type Informer struct {
	*informer.Informer

	mu      sync.Mutex
	handles []cache.ResourceEventHandlerRegistration
	removed []cache.ResourceEventHandlerRegistration
}

var _ cache.SharedIndexInformer = (*Informer)(nil)

// NewSharedInformer is cache.NewSharedInformer.
func NewSharedInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration) cache.SharedInformer {
	return &Informer{Informer: informer.New(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync})}
}

// RunHook, if set, is called before an informer runs. Client-go's is called before
// its processor runs, which is the first thing that our informer starts.
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

// IsStarted says whether an informer has been started: then it takes no transform
// any more. Before, it has none afterwards.
func IsStarted(i cache.SharedInformer) bool { return i.SetTransform(nil) != nil }

// IsRegistered says whether an informer has given out this registration, and it
// has not ended. One that was removed gets the time to end, and any other one a
// moment, in which it must not end.
func IsRegistered(i cache.SharedInformer, handle cache.ResourceEventHandlerRegistration) bool {
	return slices.Contains(i.(*Informer).registered(), handle)
}

// EventHandlerCount is the number of such registrations.
func EventHandlerCount(i cache.SharedInformer) int { return len(i.(*Informer).registered()) }

func (i *Informer) registered() (handles []cache.ResourceEventHandlerRegistration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var moment time.Duration
	if IsStarted(i) {
		moment = time.Second
	}
	briefly, cancel := context.WithTimeout(context.Background(), moment)
	defer cancel()
	patiently, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, handle := range i.handles {
		ended, ctx := handle.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan(), briefly
		if slices.Contains(i.removed, handle) {
			ctx = patiently
		}
		select {
		case <-ended:
		case <-ctx.Done():
		}
		select {
		case <-ended:
		default:
			handles = append(handles, handle)
		}
	}
	return handles
}

// RealTime takes the place of a fake clock, which our informer does not take.
type RealTime struct{}

// Step waits until the time has passed.
func (RealTime) Step(d time.Duration) { time.Sleep(d) }
