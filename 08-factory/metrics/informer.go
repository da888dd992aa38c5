// Package metrics has metrics of informers for Prometheus. For our informers it observes what they
// do. For client-go's informers it provides the metrics that client-go itself sets.
package metrics

import (
	"strconv"
	"sync"
	"time"

	"example.com/informer/03-reflector/observer"
)

// An Informer has the metrics of one informer of ours. It is an observer: set it before the
// informer is started. And it is a collector: register it. When the informer has ended, unregister
// it. It gets no events any more, and the cache would look stale.
type Informer struct {
	name string

	mu       sync.Mutex // guards the fields below
	listing  bool       // a list has begun: the request that ends next is this list
	ends     map[end]int
	objects  int       // in the store
	version  uint64    // the last 15 digits of the resource version
	last     time.Time // when the server has last sent something
	handlers map[string]*handler
}

// An end is a kind of ended requests: "list" or "watch", and the result.
type end struct{ request, result string }

// The results of lists and watches.
const (
	resultOK      = "ok"
	resultExpired = "expired"
	resultError   = "error"
)

// New returns the metrics of an informer. The name, such as "pods", becomes the label informer of
// all metrics.
func New(name string) *Informer {
	return &Informer{name: name, last: time.Now(), ends: map[end]int{}, handlers: map[string]*handler{}}
}

// Observe implements observer.Observer.
func (i *Informer) Observe(e observer.Event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	switch e.Kind {
	case observer.Listing:
		i.listing = true
	case observer.Listed:
		i.requestEnded(resultOK) // if the list came over a watch, the end of that watch counts later
		i.received(e, now)
	case observer.Received, observer.Bookmark:
		i.received(e, now)
	case observer.Expired:
		i.requestEnded(resultExpired)
	case observer.Ended:
		if e.Err != nil {
			i.requestEnded(resultError)
		} else {
			i.requestEnded(resultOK)
		}
	case observer.Stored:
		i.stored(e)
	case observer.Appended:
		i.appended(e, now)
	case observer.Joined:
		i.joined(e, now)
	case observer.Called:
		i.called(e, now)
	case observer.Folded:
		i.folded(e)
	case observer.Removed:
		i.removed(e)
	}
}

func (i *Informer) requestEnded(result string) {
	request := "watch"
	if i.listing {
		request = "list"
	}
	i.ends[end{request, result}]++
	i.listing = false
}

func (i *Informer) received(e observer.Event, now time.Time) {
	i.last = now
	if version, err := strconv.ParseUint(e.Version, 10, 64); err == nil {
		i.version = version % 1e15 // a float64 holds 15 digits exactly
	}
}

func (i *Informer) stored(e observer.Event) {
	switch e.Type {
	case "ADDED":
		i.objects++
	case "DELETED":
		i.objects--
	}
}

// appended adds a change to the backlogs of all handlers. A resync does not count: it is no change,
// and not all handlers get it.
func (i *Informer) appended(e observer.Event, now time.Time) {
	if isResync(e) {
		return
	}
	for _, h := range i.handlers {
		for _, b := range h.backlogs {
			b.waiting = append(b.waiting, now)
		}
	}
}

func (i *Informer) joined(e observer.Event, now time.Time) {
	h, ok := i.handlers[e.Handler]
	if !ok {
		h = &handler{backlogs: map[any]*backlog{}}
		i.handlers[e.Handler] = h
	}
	h.backlogs[e.Registration] = newBacklog(i.objects, now)
}

func (i *Informer) called(e observer.Event, now time.Time) {
	if h := i.handlerOf(e); h != nil {
		h.called(e, now)
	}
}

func (i *Informer) folded(e observer.Event) {
	if h := i.handlerOf(e); h != nil {
		h.fold(e)
	}
}

func (i *Informer) removed(e observer.Event) {
	h, ok := i.handlers[e.Handler]
	if !ok {
		return
	}
	delete(h.backlogs, e.Registration)
	if len(h.backlogs) == 0 {
		delete(i.handlers, e.Handler)
	}
}

// handlerOf returns the handler of an event. It is nil if the handler was removed during the call
// that the event is about.
func (i *Informer) handlerOf(e observer.Event) *handler {
	h := i.handlers[e.Handler]
	if h == nil || h.backlogs[e.Registration] == nil {
		return nil
	}
	return h
}
