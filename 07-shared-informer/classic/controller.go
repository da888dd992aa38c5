// The reflector, the queue, and the loop that pops.

package classic

import (
	"context"
	"errors"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/03-reflector/reflector"
)

// A controller has two goroutines. The reflector lists and watches, and writes to the queue. The
// loop pops from the queue, and calls process.
type controller struct {
	queue     *queue
	reflector *reflector.Reflector
	process   func(deltas cache.Deltas, isInInitialList bool) error
}

// newController makes the controller of the informer. The caller holds startedLock.
func (s *SharedIndexInformer) newController() *controller {
	fifo := deltafifo.New(deltafifo.Options{KnownObjects: s.indexer, EmitDeltaTypeReplaced: true})
	c := &controller{queue: &queue{Queue: fifo, transformer: s.transform}, process: s.handleDeltas}
	options := reflector.Options{
		ListerWatcher:   s.listerWatcher,
		Store:           c.queue,
		ExpectedType:    s.objectType,
		TypeDescription: s.objectDescription,
		ResyncPeriod:    s.resyncCheckPeriod,
		ShouldResync:    func() bool { return s.processor.ShouldResync(time.Now()) },
	}
	if s.watchErrorHandler != nil {
		options.WatchErrorHandler = reflector.ToWatchErrorHandler(s.watchErrorHandler, options)
	}
	c.reflector = reflector.New(options)
	return c
}

// RunWithContext runs the reflector and the loop until ctx ends.
func (c *controller) RunWithContext(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel() // an index function may panic in the loop: then the reflector must end, too
	running.Go(func() {
		<-ctx.Done() // a Pop that waits does not see it
		c.queue.Close()
	})
	running.Go(func() { c.reflector.Run(ctx) })
	c.processLoop(ctx)
}

// processLoop pops until ctx ends. What waits in the queue by then is dropped.
func (c *controller) processLoop(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.queue.Pop(c.process)
		if err != nil && !errors.Is(err, cache.ErrFIFOClosed) {
			utilruntime.HandleErrorWithContext(ctx, err, "Unable to store a change")
		}
	}
}

// A queue is a DeltaFIFO whose objects go through a transform before they are queued. (client-go's
// DeltaFIFO does this itself.)
type queue struct {
	*deltafifo.Queue
	transformer cache.TransformFunc // nil: objects stay as they are
}

var _ cache.TransformingStore = (*queue)(nil)

// Add, Update and Delete queue the transformed object of an event.
func (q *queue) Add(obj any) error    { return q.put(obj, q.Queue.Add) }
func (q *queue) Update(obj any) error { return q.put(obj, q.Queue.Update) }
func (q *queue) Delete(obj any) error { return q.put(obj, q.Queue.Delete) }

func (q *queue) put(obj any, enqueue func(any) error) error {
	if q.transformer == nil {
		return enqueue(obj)
	}
	obj, err := q.transformer(obj)
	if err != nil {
		return err
	}
	return enqueue(obj)
}

// Replace queues a list. If the transform fails for one object, the whole list is refused.
func (q *queue) Replace(list []any, version string) error {
	var objs []any
	for _, obj := range list {
		err := q.put(obj, func(transformed any) error {
			objs = append(objs, transformed)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return q.Queue.Replace(objs, version)
}

// Transformer returns the transform for the reflector. The reflector transforms the objects of a
// streamed list one by one, before it has all of them in memory.
func (q *queue) Transformer() cache.TransformFunc { return q.transformer }

// GetController returns a controller that answers questions, and whose Run does nothing. The owner
// of a shared informer decides when it runs, and not one of its users.
func (s *SharedIndexInformer) GetController() cache.Controller { return dummyController{s} }

type dummyController struct{ *SharedIndexInformer }

// Run does nothing: the owner of the informer runs it.
func (dummyController) Run(<-chan struct{}) {}

// RunWithContext does nothing either.
func (dummyController) RunWithContext(context.Context) {}
