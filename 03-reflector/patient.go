// A queue whose deletes wait until the consumer has caught up.

package main

import (
	"context"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/flow"
)

// A patient queue takes a delete only when all that came before it has been
// popped. A pod is changed a moment before it is deleted; as long as that
// change waits in the queue, the queue knows the pod, and the delete is not
// lost. Without patience the step lost would depend on how quick the machine is.
type patient struct {
	*cache.DeltaFIFO
	queued, popped atomic.Int64
}

// Add, Update and Delete are what a reflector calls.
func (p *patient) Add(obj any) error {
	p.queued.Add(1)
	return p.DeltaFIFO.Add(obj)
}

func (p *patient) Update(obj any) error {
	p.queued.Add(1)
	return p.DeltaFIFO.Update(obj)
}

func (p *patient) Delete(obj any) error {
	caughtUp := func() bool { return p.popped.Load() == p.queued.Load() || p.IsClosed() }
	if err := flow.Until(context.Background(), "the consumer", caughtUp); err != nil {
		return err
	}
	return p.DeltaFIFO.Delete(obj)
}
