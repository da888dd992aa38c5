// One informer under test, with its handlers.

package bout

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/faults/judge"
)

// New makes an informer, as cache.NewSharedIndexInformerWithOptions does.
type New func(lw cache.ListerWatcher, example runtime.Object,
	options cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// informer watches one resource, in all namespaces.
type informer struct {
	cache.SharedIndexInformer
	resource   string
	onTheirWay int // calls, when a handler is removed
	handlers   map[string]*handler
}

func newInformer(c Contender, client rest.Interface, resource string, example runtime.Object) (*informer, error) {
	lw := cache.NewListWatchFromClient(client, resource, "", fields.Everything())
	i := &informer{
		SharedIndexInformer: c.New(lw, example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resyncPeriod,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "app": byApp},
		}),
		resource: resource, onTheirWay: c.OnTheirWay, handlers: map[string]*handler{},
	}
	for _, kind := range fromTheStart {
		if err := i.join(kind); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// byApp is an index whose values come and go.
func byApp(obj any) ([]string, error) {
	o, ok := obj.(judge.Object)
	if !ok {
		return nil, fmt.Errorf("cannot index a %T", obj)
	}
	if app, ok := o.GetLabels()["app"]; ok {
		return []string{app}, nil
	}
	return nil, nil
}

// join adds a handler.
func (i *informer) join(kind string) (err error) {
	h := newHandler(kind)
	period := time.Duration(0)
	if kind == resynced {
		period = resyncPeriod
	}
	if h.registration, err = i.AddEventHandlerWithResyncPeriod(h, period); err != nil {
		return fmt.Errorf("the handler %s of %s: %w", kind, i.resource, err)
	}
	i.handlers[kind] = h
	return nil
}

// leave removes a handler.
func (i *informer) leave(kind string) error {
	h := i.handlers[kind]
	if err := i.RemoveEventHandler(h.registration); err != nil {
		return fmt.Errorf("removing the handler %s of %s: %w", kind, i.resource, err)
	}
	h.Removed(i.onTheirWay)
	return nil
}

// synced tells whether every handler has returned from the initial list. One
// that panics there may never do so: client-go counts only calls that return.
func (i *informer) synced() bool {
	for kind, h := range i.handlers {
		if kind != panicking && !h.registration.HasSynced() {
			return false
		}
	}
	return true
}

// toldAll tells whether every handler that is still there has been told of the
// truth.
func (i *informer) toldAll(truth map[string]string) bool {
	for _, h := range i.handlers {
		if h.Lags(truth) {
			return false
		}
	}
	return true
}

// evidence is what the informer is judged by, where server is all there is, and
// how many calls its handlers have had.
func (i *informer) evidence(server []judge.Object, contents judge.Contents) (e judge.Evidence, events int) {
	e = judge.Evidence{
		Server: server, Store: i.GetIndexer(), Contents: contents,
		Handlers: map[string]*judge.Recorder{}, Witness: fast,
	}
	for kind, h := range i.handlers {
		e.Handlers[kind] = h.Recorder
		calls, _ := h.Calls()
		events += len(calls)
	}
	return e, events
}
