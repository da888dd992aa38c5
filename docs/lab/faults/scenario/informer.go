// One informer under test, with its handlers.

package scenario

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/record"
)

// NewInformer makes an informer, as cache.NewSharedIndexInformerWithOptions does.
type NewInformer func(lw cache.ListerWatcher, example runtime.Object,
	options cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// informer watches one resource, in all namespaces.
type informer struct {
	cache.SharedIndexInformer
	resource string
	inFlight int                 // calls, after a handler is removed
	handlers map[string]*handler // by kind
}

func newInformer(impl Implementation, client rest.Interface, resource string,
	example runtime.Object) (*informer, error) {
	lw := cache.NewListWatchFromClient(client, resource, "", fields.Everything())
	i := &informer{
		SharedIndexInformer: impl.New(lw, example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resyncPeriod,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "app": byApp},
		}),
		resource: resource, inFlight: impl.InFlight, handlers: map[string]*handler{},
	}
	for _, kind := range initialHandlers {
		if err := i.add(kind); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// byApp is an index function: the workload keeps changing this label.
func byApp(obj any) ([]string, error) {
	o, ok := obj.(record.Object)
	if !ok {
		return nil, fmt.Errorf("cannot index a %T", obj)
	}
	if app, ok := o.GetLabels()["app"]; ok {
		return []string{app}, nil
	}
	return nil, nil
}

// add adds a handler.
func (i *informer) add(kind string) (err error) {
	h := newHandler(kind)
	period := time.Duration(0)
	if kind == resynced {
		period = resyncPeriod
	}
	if h.registration, err = i.AddEventHandlerWithResyncPeriod(h, period); err != nil {
		return fmt.Errorf("adding the handler %s of %s: %w", kind, i.resource, err)
	}
	i.handlers[kind] = h
	return nil
}

// remove removes a handler.
func (i *informer) remove(kind string) error {
	h := i.handlers[kind]
	if err := i.RemoveEventHandler(h.registration); err != nil {
		return fmt.Errorf("removing the handler %s of %s: %w", kind, i.resource, err)
	}
	h.Removed(i.inFlight)
	return nil
}

// synced tells whether every handler has synced. The one that panics may never do
// so: client-go counts only calls that return.
func (i *informer) synced() bool {
	for kind, h := range i.handlers {
		if kind != panicking && !h.registration.HasSynced() {
			return false
		}
	}
	return true
}

// behind tells whether a handler does not yet know what the server has.
func (i *informer) behind(server map[string]string) bool {
	for _, h := range i.handlers {
		if h.Behind(server) {
			return true
		}
	}
	return false
}

// checker returns a checker of the informer, and how many calls its handlers have
// had.
func (i *informer) checker(server []record.Object, contents record.Contents) (c record.Checker, events int) {
	c = record.Checker{
		Server: server, Store: i.GetIndexer(), Contents: contents,
		Recorders: map[string]*record.Recorder{}, Complete: fast,
	}
	for kind, h := range i.handlers {
		c.Recorders[kind] = h.Recorder
		calls, _ := h.Calls()
		events += len(calls)
	}
	return c, events
}
