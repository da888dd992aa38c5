// What a WatchDog is made from.

package watchdog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/04-indexer/store"
)

// Options of a WatchDog. The first three have no default.
type Options struct {
	ListerWatcher cache.ListerWatcher        // where the objects are listed and watched
	ObjectType    runtime.Object             // an object such as come from there; only its Go type counts
	Handler       cache.ResourceEventHandler // is called for every change; nil functions in it are fine

	// KeyFunction names an object. Default: cache.MetaNamespaceKeyFunc.
	KeyFunction cache.KeyFunc

	// ResyncPeriod is how often the handler gets all objects again, as
	// OnUpdate, out of the store. Default: never. New refuses a negative one.
	ResyncPeriod time.Duration

	// StopTimeout is how long Run waits for the handler to return, once its
	// context has ended. Default: five seconds.
	StopTimeout time.Duration

	// OnError is called with what went wrong, from several goroutines; the
	// WatchDog goes on either way. Default: to log it with slog.
	OnError func(error)
}

// Reader is the part of a store that does not change it: what is written there
// by anyone else than the WatchDog would make its calls wrong.
type Reader interface {
	cache.KeyListerGetter
	Get(obj any) (item any, exists bool, err error)
	List() []any
}

// New returns a WatchDog that is ready to run.
func New(opts Options) (*WatchDog, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("making a WatchDog: %w", err)
	}
	opts.setDefaults()
	box := &inbox{opts: opts, synced: make(chan struct{})}
	objects := store.New(store.Options{KeyFunction: box.key}) // which can name a tombstone
	box.Queue = deltafifo.New(deltafifo.Options{KeyFunction: box.key, KnownObjects: objects})

	// The reflector does not learn which type we expect: of what does not fit it
	// would report the type, and the inbox can say which object it was.
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

func (o Options) check() error {
	lw, isListWatch := o.ListerWatcher.(*cache.ListWatch)
	switch {
	case o.ListerWatcher == nil, isListWatch && lw == nil:
		return errors.New("the ListerWatcher is nil: make one with cache.NewListWatchFromClient")
	//lint:ignore SA1019 it may be the only one set
	case isListWatch && lw.ListWithContextFunc == nil && lw.ListFunc == nil:
		return errors.New("the ListWatch has no function to list with: set ListWithContextFunc")
	//lint:ignore SA1019 it may be the only one set
	case isListWatch && lw.WatchFuncWithContext == nil && lw.WatchFunc == nil:
		return errors.New("the ListWatch has no function to watch with: set WatchFuncWithContext")
	case o.ObjectType == nil:
		return errors.New("the ObjectType is nil: give an empty object, such as &corev1.Pod{}")
	case o.Handler == nil:
		return errors.New("the Handler is nil: cache.ResourceEventHandlerFuncs{} does nothing")
	case o.ResyncPeriod < 0: // a reflector would take it for: all the time
		return fmt.Errorf("the ResyncPeriod is %v: give zero for never, or a time such as 10*time.Minute",
			o.ResyncPeriod)
	}
	return nil
}

func (o *Options) setDefaults() {
	if o.KeyFunction == nil {
		o.KeyFunction = cache.MetaNamespaceKeyFunc
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = 5 * time.Second
	}
	if o.OnError == nil {
		o.OnError = func(err error) { slog.Error("watchdog: " + err.Error()) }
	}
}
