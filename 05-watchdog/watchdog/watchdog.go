// Package watchdog is an informer in one screen: a reflector, a queue, a store
// and the loop that ties them together.
package watchdog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/reflector"
	"example.com/informer/04-indexer/store"
)

// A WatchDog keeps a store equal to what the server has, and notifies a
// handler of every change, one call at a time. It runs once.
//
// What the handler can rely on:
//   - Whether OnAdd or OnUpdate is called is decided by what the store held, and
//     by nothing else. The old object of OnUpdate is the one that the store held.
//   - The store is changed before the handler is called. It is never behind a
//     call; it can be ahead, where more has happened to the object already.
//   - The calls for one object come in the order in which things happened.
//     Between objects there is no order.
//   - OnDelete gets the object, or a cache.DeletedFinalStateUnknown where nobody
//     saw how it ended. Either way that object is no longer in the store.
//   - A call that panics is reported to OnError, and the next one is made: the
//     store had changed before the call and stays right.
type WatchDog struct {
	opts      Options
	store     *store.Store // written by apply only
	inbox     *inbox
	reflector *reflector.Reflector
	started   atomic.Bool
	underway  atomic.Pointer[call] // the handler's call at this moment, or nil
}

// Run lists, watches and calls the handler until ctx ends. The end of ctx is not an
// error. Run waits up to StopTimeout for a handler that does not return, and leaves it
// behind then: the error says what it was busy with. A handler that ends its goroutine
// (runtime.Goexit, t.FailNow) ends Run with an error. A second Run is an error.
func (w *WatchDog) Run(ctx context.Context) error {
	if w.started.Swap(true) {
		return fmt.Errorf("this WatchDog of %T was run before, and it runs once: make a new one", w.opts.ObjectType)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var parts sync.WaitGroup
	parts.Go(func() { w.reflector.Run(ctx) })
	parts.Go(func() {
		defer cancel() // the handler may end this goroutine: without it nothing goes on
		w.loop(ctx)
	})
	<-ctx.Done()
	w.inbox.Close() // ends the loop's wait for more

	ended := make(chan struct{})
	go func() { parts.Wait(); close(ended) }()
	select {
	case <-ended:
		return w.checkCalls()
	case <-time.After(w.opts.StopTimeout):
		return w.leftBehind()
	}
}

// Store shows what the server has, as of the latest event that was taken out
// of the queue. Its objects are shared: copy one before you change it.
func (w *WatchDog) Store() Reader { return w.store }

// loop takes one object's changes after the other out of the queue: store first,
// then handler.
func (w *WatchDog) loop(ctx context.Context) {
	for ctx.Err() == nil {
		var key string
		var calls []call
		err := w.inbox.Pop(func(deltas cache.Deltas) (err error) {
			key, calls, err = w.apply(deltas)
			return err
		})
		if err != nil && ctx.Err() == nil {
			w.opts.OnError(err)
		}
		for i := range calls {
			if ctx.Err() != nil {
				return
			}
			w.deliver(&calls[i])
		}
		w.inbox.handled(key)
	}
}

// apply brings the store up to date with all that happened to one object, and
// returns the calls to be made for it. It runs under the queue's lock, so that
// the queue, which looks at the store to find out what a new list lacks, never
// sees an object that is in neither. It must not wait for anything: that is
// why the handler is not called here.
func (w *WatchDog) apply(deltas cache.Deltas) (key string, calls []call, err error) {
	if key, err = w.inbox.key(deltas.Newest().Object); err != nil {
		return "", nil, err
	}
	first := w.inbox.isFirst(key)
	for i, d := range deltas {
		obj, handler, next := d.Object, w.opts.Handler, call{key: key}
		old, exists, err := w.store.GetByKey(key)
		switch {
		case err != nil:
		case d.Type == cache.Deleted:
			err = w.store.Delete(obj)
			next.method, next.run = "OnDelete", func() { handler.OnDelete(obj) }
		case exists:
			err = w.store.Update(obj)
			next.method, next.run = "OnUpdate", func() { handler.OnUpdate(old, obj) }
		default:
			err = w.store.Add(obj)
			next.method, next.run = "OnAdd", func() { handler.OnAdd(obj, first && i == 0) }
		}
		if err != nil {
			return key, calls, fmt.Errorf("storing %s: %w", key, err)
		}
		calls = append(calls, next)
	}
	return key, calls, nil
}
