package watchdog

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Options of a WatchDog. The first three have no default.
type Options struct {
	ListerWatcher cache.ListerWatcher        // lists and watches the objects
	ObjectType    runtime.Object             // an example of these objects; only its Go type counts
	Handler       cache.ResourceEventHandler // is called for every change; its functions may be nil

	// KeyFunction returns the key of an object. Default: cache.MetaNamespaceKeyFunc.
	KeyFunction cache.KeyFunc

	// ResyncPeriod is the time between two resyncs. A resync calls OnUpdate for each object in the
	// store. Default: no resyncs. New refuses a negative period.
	ResyncPeriod time.Duration

	// StopTimeout is how long Run waits for the handler to return after its context has ended.
	// Default: five seconds.
	StopTimeout time.Duration

	// OnError is called with each error, from several goroutines. The WatchDog goes on after the
	// error. Default: log the error with slog.
	OnError func(error)
}

// Reader is the part of a store that does not change it. Only the WatchDog may write to its store:
// after another write, its calls of the handler would be wrong.
type Reader interface {
	cache.KeyListerGetter
	Get(obj any) (item any, exists bool, err error)
	List() []any
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
	case o.ResyncPeriod < 0: // a reflector would resync without a pause
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
