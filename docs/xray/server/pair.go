// A pair: our informer, and another one on the same objects.

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/docs/xray/recorder"
)

const maxHandlers = 12

// A pair is an informer to show, another one on the same objects, and handlers that both informers
// have.
type pair struct {
	*InformerOptions
	ctx       context.Context // when it ends, every call of a handler returns
	namespace string
	recorder  *recorder.Recorder
	informers map[recorder.Implementation]observedInformer
	second    observedInformer           // of the informers
	bulk      atomic.Pointer[bulkUpdate] // nil unless many updates are being made
	created   atomic.Int64               // how many names were tried for new objects
	compare   func(Comparison) error     // shows other parts; nil if there is no choice

	handlersMu sync.Mutex // held while a handler is added, changed or removed
	handlers   map[string]*handler
	joined     int // how many handlers were ever added
}

// An observedInformer is an informer with its source. An informer of ours reports to its own observer.
// client-go's has none: in its place, the source and the handlers report to the observer
// of the source.
type observedInformer struct {
	cache.SharedIndexInformer
	source *Source
}

// newPair prepares both informers, and adds the first two handlers.
func newPair(ctx context.Context, namespace string, o *InformerOptions) (*pair, error) {
	p := &pair{InformerOptions: o, ctx: ctx, namespace: namespace, handlers: map[string]*handler{}}
	second := recorder.ClientGo
	if o.Second != nil {
		second = recorder.Second
	}
	if o.Parts == nil {
		o.Parts = map[recorder.Implementation]recorder.Parts{recorder.Ours: {Fanout: recorder.Journal}, second: {}}
	}
	p.recorder = recorder.New(recorder.Options{
		Name: o.Name, Kind: o.Kind, Namespace: namespace, Parts: o.Parts, Indexers: o.Indexers, Status: p.status,
	})
	p.informers = map[recorder.Implementation]observedInformer{recorder.Ours: {o.Informer, o.Source}}
	if err := observe(o.Informer, o.Source, p.recorder.Observer(recorder.Ours)); err != nil {
		return nil, err
	}
	if o.Second != nil {
		p.informers[second] = observedInformer{o.Second, o.SecondSource}
		if err := observe(o.Second, o.SecondSource, p.recorder.Observer(second)); err != nil {
			return nil, err
		}
	} else {
		o.SecondSource.observer = p.recorder.Observer(second)
		clientGo := cache.NewSharedIndexInformer(o.SecondSource, o.Example, 0, o.Indexers)
		p.informers[second] = observedInformer{clientGo, o.SecondSource}
	}
	p.second = p.informers[second]
	for _, i := range p.informers {
		ignore := func(context.Context, *cache.Reflector, error) {} // the page shows the error
		if err := i.SetWatchErrorHandlerWithContext(ignore); err != nil {
			return nil, err
		}
	}
	for _, speed := range []recorder.Speed{recorder.Fast, recorder.Slow} {
		if _, err := p.add(string(speed), speed); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// observe sets the observer of an informer of ours, and of its queue.
func observe(i *informer.Informer, source *Source, o observer.Observer) error {
	if source.queue != nil {
		source.queue.SetObserver(o)
	}
	return i.SetObserver(o)
}

// status returns the part of the state that no event reports.
func (p *pair) status() recorder.Status {
	status := recorder.Status{Cut: p.Connection.isCut.Load(), Bytes: p.Connection.bytes.Load()}
	if b := p.bulk.Load(); b != nil {
		status.Made, status.Updates = int(b.made.Load()), b.updates
	}
	return status
}

// add adds a handler to both informers, or to none: there may be too many, and an informer
// may have stopped. A handler without a name gets a number. add returns the name.
func (p *pair) add(name string, speed recorder.Speed) (string, error) {
	duration, err := callDuration(speed)
	if err != nil {
		return "", err
	}
	p.handlersMu.Lock()
	defer p.handlersMu.Unlock()
	if len(p.handlers) >= maxHandlers {
		return "", refuse(http.StatusConflict, "there are %d handlers: remove one first", maxHandlers)
	}
	p.joined++
	if name == "" {
		name = fmt.Sprint("handler-", p.joined)
	}
	h := newHandler(p.ctx, name, duration)
	for implementation := range p.informers {
		if err := p.register(h, implementation); err != nil {
			return "", errors.Join(err, p.unregister(h))
		}
	}
	p.handlers[name] = h
	p.recorder.RecordSpeed(name, speed)
	return name, nil
}

// register adds a handler to one of the informers, unless it has stopped.
func (p *pair) register(h *handler, implementation recorder.Implementation) error {
	i := p.informers[implementation]
	i.source.observer.Observe(recorder.HandlerJoined{Name: h.name}) // before its first call
	registration, err := i.AddEventHandler(reportingHandler{handler: h, observer: i.source.observer})
	if err != nil {
		i.source.observer.Observe(recorder.HandlerRemoved{Name: h.name})
		return err
	}
	h.registrations[implementation] = registration
	return nil
}

// unregister removes a handler from the informers that have it. If it is in a call, the call
// returns.
func (p *pair) unregister(h *handler) error {
	var errs []error
	for implementation, registration := range h.registrations {
		i := p.informers[implementation]
		errs = append(errs, i.RemoveEventHandler(registration))
		i.source.observer.Observe(recorder.HandlerRemoved{Name: h.name})
	}
	h.setDuration(0)
	return errors.Join(errs...)
}

// changeSpeed changes the speed of a handler, even during a call.
func (p *pair) changeSpeed(name string, speed recorder.Speed) error {
	duration, err := callDuration(speed)
	if err != nil {
		return err
	}
	p.handlersMu.Lock()
	defer p.handlersMu.Unlock()
	h, err := p.handlerNamed(name)
	if err != nil {
		return err
	}
	h.setDuration(duration)
	p.recorder.RecordSpeed(name, speed)
	return nil
}

// remove removes a handler from both informers.
func (p *pair) remove(name string) error {
	p.handlersMu.Lock()
	defer p.handlersMu.Unlock()
	h, err := p.handlerNamed(name)
	if err != nil {
		return err
	}
	delete(p.handlers, name)
	return p.unregister(h)
}

// handlerNamed needs the lock.
func (p *pair) handlerNamed(name string) (*handler, error) {
	h, ok := p.handlers[name]
	if !ok {
		return nil, refuse(http.StatusNotFound, "there is no handler %q: choose one that the page shows", name)
	}
	return h, nil
}

// storedNames returns the names of the objects in the store that are in the namespace of the page.
func (p *pair) storedNames() (names []string) {
	for _, key := range p.Informer.GetStore().ListKeys() {
		namespace, name, err := cache.SplitMetaNamespaceKey(key)
		if err == nil && namespace == p.namespace {
			names = append(names, name)
		}
	}
	return names
}

// runUpdates makes the updates that the user has asked for, if any.
func (p *pair) runUpdates(context.Context) {
	b := p.bulk.Load()
	if b == nil {
		return
	}
	switch err := b.run(p.Objects); {
	case errors.Is(err, errCancelled):
		p.recorder.RecordAction(recorder.SectionInformer, "The updates are cancelled, after %s.",
			recorder.Plural(int(b.made.Load()), "update"))
	case err != nil:
		p.recorder.RecordAction(recorder.SectionInformer, "The updates were broken off: %v", err)
	default:
		p.recorder.RecordAction(recorder.SectionInformer, "%s are made.", recorder.Plural(b.updates, "update"))
	}
	p.bulk.Store(nil)
}
