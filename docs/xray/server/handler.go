// A handler, which is fast, slow or stalled.

package server

import (
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/docs/xray/recorder"
)

// callDurations says how long a call takes at each speed.
var callDurations = map[recorder.Speed]time.Duration{
	recorder.Fast:    0,
	recorder.Slow:    recorder.SlowCall,
	recorder.Stalled: math.MaxInt64,
}

func callDuration(speed recorder.Speed) (time.Duration, error) {
	duration, ok := callDurations[speed]
	if !ok {
		return 0, refuse(http.StatusBadRequest, "there is no speed %q (known: %q)", speed,
			slices.Sorted(maps.Keys(callDurations)))
	}
	return duration, nil
}

// A handler is registered with both informers. It does nothing, and takes its time for it.
type handler struct {
	*pace
	name          string
	registrations map[recorder.Implementation]cache.ResourceEventHandlerRegistration
}

func newHandler(ctx context.Context, name string, duration time.Duration) *handler {
	return &handler{
		pace: newPace(ctx, duration), name: name,
		registrations: map[recorder.Implementation]cache.ResourceEventHandlerRegistration{},
	}
}

// A reportingHandler is a handler as one of the informers calls it. It reports its calls.
type reportingHandler struct {
	*handler
	observer observer.Observer
}

// Name implements the interface from which our informer takes the name of a registration.
func (r reportingHandler) Name() string { return r.name }

// OnAdd implements cache.ResourceEventHandler.
func (r reportingHandler) OnAdd(obj any, isInInitialList bool) {
	r.call(processor.Notification{Kind: processor.Added, New: obj, Initial: isInInitialList})
}

// OnUpdate implements cache.ResourceEventHandler.
func (r reportingHandler) OnUpdate(oldObj, newObj any) {
	r.call(processor.Notification{Kind: processor.Updated, Old: oldObj, New: newObj})
}

// OnDelete implements cache.ResourceEventHandler.
func (r reportingHandler) OnDelete(obj any) {
	r.call(processor.Notification{Kind: processor.Deleted, New: obj})
}

func (r reportingHandler) call(change processor.Notification) {
	begun := time.Now()
	r.work()
	change.Key = keyOf(change.New)
	r.observer.Observe(recorder.HandlerCalled{Name: r.name, Change: change, Took: time.Since(begun)})
}
