// A pair: our informer and client-go's on the same objects.

package xray

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/xray/recorder"
)

const maxHandlers = 12

// A pair is the informer of a Subject, client-go's informer on the same objects, and handlers that
// both informers have.
type pair struct {
	*Subject
	ctx       context.Context // when it ends, every call of a handler returns
	namespace string
	recorder  *recorder.Recorder
	informers map[recorder.Implementation]observedInformer
	bulk      atomic.Pointer[bulkUpdate] // nil unless many updates are under way
	created   atomic.Int64               // how many names were tried for new objects

	handlersMu sync.Mutex // held while a handler is added, changed or removed
	handlers   map[string]*handler
	joined     int // how many handlers were ever added
}

// An observedInformer is an informer with its source. Our informer reports to its own observer.
// client-go's informer has none: in its place, the source and the handlers report to the observer
// of the source.
type observedInformer struct {
	cache.SharedIndexInformer
	source *Source
}

// newPair prepares both informers, and adds the first two handlers.
func newPair(ctx context.Context, namespace string, s *Subject) (*pair, error) {
	p := &pair{Subject: s, ctx: ctx, namespace: namespace, handlers: map[string]*handler{}}
	p.recorder = recorder.New(recorder.Options{
		Name: s.Name, Kind: s.Kind, Namespace: namespace, Indexers: s.Indexers, Status: p.status,
	})
	s.Theirs.observer = p.recorder.Observer(recorder.ClientGo)
	p.informers = map[recorder.Implementation]observedInformer{
		recorder.Ours:     {s.Informer, s.Source},
		recorder.ClientGo: {cache.NewSharedIndexInformer(s.Theirs, s.Example, 0, s.Indexers), s.Theirs},
	}
	if err := s.Informer.SetObserver(p.recorder.Observer(recorder.Ours)); err != nil {
		return nil, err
	}
	for _, i := range p.informers {
		ignore := func(context.Context, *cache.Reflector, error) {} // the page shows the error
		if err := i.SetWatchErrorHandlerWithContext(ignore); err != nil {
			return nil, err
		}
	}
	for _, speed := range []recorder.Speed{recorder.Fast, recorder.Slow} {
		if _, err := p.addHandler(string(speed), speed); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// status returns the part of the state that no event reports.
func (p *pair) status() recorder.Status {
	status := recorder.Status{Cut: p.Line.cut.Load(), Bytes: p.Line.bytes.Load()}
	if b := p.bulk.Load(); b != nil {
		status.Made, status.Updates = int(b.made.Load()), b.updates
	}
	return status
}

// addHandler adds a handler to both informers, unless there are too many. A handler without a name
// gets a number. It returns the name.
func (p *pair) addHandler(name string, speed recorder.Speed) (string, error) {
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
	for implementation, i := range p.informers {
		i.source.observer.Observe(observer.Event{Kind: observer.Joined, Handler: name})
		registration, err := i.AddEventHandler(reportingHandler{handler: h, observer: i.source.observer})
		if err != nil {
			return "", err // the informer has stopped
		}
		h.registrations[implementation] = registration
	}
	p.handlers[name] = h
	p.recorder.RecordSpeed(name, speed)
	return name, nil
}

// setSpeed changes the speed of a handler, even during a call.
func (p *pair) setSpeed(name string, speed recorder.Speed) error {
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

// removeHandler removes a handler from both informers. If it is in a call, the call returns.
func (p *pair) removeHandler(name string) error {
	p.handlersMu.Lock()
	defer p.handlersMu.Unlock()
	h, err := p.handlerNamed(name)
	if err != nil {
		return err
	}
	delete(p.handlers, name)
	var errs []error
	for implementation, i := range p.informers {
		errs = append(errs, i.RemoveEventHandler(h.registrations[implementation]))
		i.source.observer.Observe(observer.Event{Kind: observer.Removed, Handler: name})
	}
	h.setDuration(0)
	return errors.Join(errs...)
}

// handlerNamed needs the lock.
func (p *pair) handlerNamed(name string) (*handler, error) {
	h, ok := p.handlers[name]
	if !ok {
		return nil, refuse(http.StatusNotFound, "there is no handler %q: choose one that the page shows", name)
	}
	return h, nil
}
