// A watch whose DELETED events wait until the consumer has caught up.

package main

import (
	"context"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/flow"
)

// A patient ListWatch passes a DELETED on only when all events before it have
// been popped. A pod is changed a moment before it is deleted; as long as that
// change waits in the queue, the queue knows the pod, and the delete is not
// lost. Without patience the step lost would depend on how quick the machine is.
type patient struct {
	*cache.ListWatch
	passed, popped atomic.Int64 // events: passed on by the watch, popped by the consumer
}

// WatchWithContext is what a reflector calls.
func (p *patient) WatchWithContext(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	watcher, err := p.ListWatch.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	return apiwatch.Filter(watcher, func(event apiwatch.Event) (apiwatch.Event, bool) {
		switch event.Type {
		case apiwatch.Added, apiwatch.Modified:
			p.passed.Add(1)
		case apiwatch.Deleted:
			// If ctx ends meanwhile, nobody listens any more.
			_ = flow.Until(ctx, "the consumer", func() bool { return p.popped.Load() == p.passed.Load() })
		}
		return event, true
	}), nil
}
