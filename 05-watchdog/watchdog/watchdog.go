// Package watchdog is a small informer: a reflector, a queue, a store, and the loop that connects
// them.
package watchdog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/04-indexer/indexer"
)

// A WatchDog keeps a store equal to the state of the server, and notifies a handler of every
// change, one call at a time. It runs once.
//
// The handler can rely on these rules:
//   - Only the content of the store decides between OnAdd and OnUpdate. The old object of OnUpdate
//     is the one that the store held.
//   - The WatchDog changes the store before it calls the handler. The store is never behind a call.
//     It can be ahead of the call, because the object may have changed again.
//   - The calls for one object come in the order of its changes. Between objects there is no order.
//   - OnDelete gets the object, or a cache.DeletedFinalStateUnknown if the watch has missed the
//     delete. In both cases the store no longer holds that object.
//   - The WatchDog reports a call that panics to OnError, and makes the next call. The store has
//     changed before the call, and stays right.
type WatchDog struct {
	opts      Options
	store     *indexer.Indexer // only apply writes to it
	inbox     *inbox
	reflector *reflector.Reflector
	started   atomic.Bool
	inFlight  atomic.Pointer[call] // the call of the handler at this moment, or nil
}

// New returns a WatchDog that is ready to run.
func New(opts Options) (*WatchDog, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("making a WatchDog: %w", err)
	}
	opts.setDefaults()
	box := newInbox(opts)
	objects := indexer.New(box.key, nil) // box.key also knows the key of a tombstone
	box.Queue = deltafifo.New(deltafifo.Options{KeyFunction: box.key, KnownObjects: objects})

	// The reflector has no ExpectedType here. It would report only the type of an object that does
	// not fit. The inbox reports which object it is.
	source := reflector.New(reflector.Options{
		ListerWatcher:   opts.ListerWatcher,
		Store:           box,
		TypeDescription: fmt.Sprintf("%T", opts.ObjectType),
		ResyncPeriod:    opts.ResyncPeriod,
		WatchErrorHandler: func(_ context.Context, err error) {
			opts.OnError(fmt.Errorf("listing and watching %T, to be tried again: %w", opts.ObjectType, err))
		},
	})
	return &WatchDog{opts: opts, store: objects, inbox: box, reflector: source}, nil
}

// Run lists, watches and calls the handler until ctx ends. The end of ctx is not an error. Run
// waits up to StopTimeout for a handler that does not return. Then Run leaves the handler behind,
// and the error names the call. A handler that ends its goroutine (runtime.Goexit, t.FailNow) ends
// Run with an error. A second Run is an error.
func (w *WatchDog) Run(ctx context.Context) error {
	if w.started.Swap(true) {
		return fmt.Errorf("this WatchDog of %T was run before, and it runs once: make a new one", w.opts.ObjectType)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var parts sync.WaitGroup
	parts.Go(func() { w.reflector.Run(ctx) })
	parts.Go(func() {
		defer cancel() // the handler may end this goroutine: then the reflector must end, too
		w.loop(ctx)
	})
	<-ctx.Done()
	w.inbox.Close() // ends the loop's wait for more

	ended := make(chan struct{})
	go func() {
		parts.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return w.checkCalls()
	case <-time.After(w.opts.StopTimeout):
		return w.stopTimeoutError()
	}
}

// Store returns the store. It holds the state of the server as of the latest event that the loop
// took out of the queue. Its objects are shared: copy an object before you change it.
func (w *WatchDog) Store() Reader { return w.store }

// HasSynced is true once the handler has returned from all calls for the first list.
func (w *WatchDog) HasSynced() bool {
	select {
	case <-w.Synced():
		return true
	default:
		return false
	}
}

// Synced returns a channel that is closed when HasSynced becomes true.
func (w *WatchDog) Synced() <-chan struct{} { return w.inbox.synced }

// loop takes the changes of one object after the other out of the queue. For each object, it
// changes the store first, and then calls the handler.
func (w *WatchDog) loop(ctx context.Context) {
	for ctx.Err() == nil {
		var calls []call
		err := w.inbox.Pop(func(deltas cache.Deltas, isInInitialList bool) (err error) {
			calls, err = w.apply(deltas, isInInitialList)
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
		w.inbox.handled()
	}
}

// apply makes all changes of one object in the store, and returns the calls of the handler for
// them. It runs under the lock of the queue. The queue compares a new list with the store, and so
// every object must be in the queue or in the store. apply must not wait for anything. Therefore
// it does not call the handler.
func (w *WatchDog) apply(deltas cache.Deltas, isInInitialList bool) (calls []call, err error) {
	key, err := w.inbox.key(deltas.Newest().Object)
	if err != nil {
		return nil, err
	}
	for i, d := range deltas {
		obj, handler, next := d.Object, w.opts.Handler, call{key: key}
		old, exists, err := w.store.GetByKey(key)
		if err != nil {
			return calls, fmt.Errorf("looking up %s: %w", key, err)
		}
		switch {
		case d.Type == cache.Deleted:
			err = w.store.Delete(obj)
			next.method = "OnDelete"
			next.run = func() { handler.OnDelete(obj) }
		case exists:
			err = w.store.Update(obj)
			next.method = "OnUpdate"
			next.run = func() { handler.OnUpdate(old, obj) }
		default:
			err = w.store.Add(obj)
			next.method = "OnAdd"
			next.run = func() { handler.OnAdd(obj, isInInitialList && i == 0) }
		}
		if err != nil {
			return calls, fmt.Errorf("storing %s: %w", key, err)
		}
		calls = append(calls, next)
	}
	return calls, nil
}
