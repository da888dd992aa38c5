// Package metrics has metrics of informers for Prometheus. For our informers it observes what they
// do. For client-go's informers it provides the metrics that client-go itself sets.
package metrics

import (
	"strconv"
	"sync"
	"time"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/journal"
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
func (i *Informer) Observe(event any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	switch e := event.(type) {
	case observer.Listing:
		i.listing = true
	case observer.Listed:
		i.requestEnded(resultOK) // if the list came over a watch, the end of that watch counts later
		i.received(e.Version, now)
	case observer.Received:
		i.received(e.Version, now)
	case observer.Bookmark:
		i.received(e.Version, now)
	case observer.Expired:
		i.requestEnded(resultExpired)
	case observer.Ended:
		if e.Err != nil {
			i.requestEnded(resultError)
		} else {
			i.requestEnded(resultOK)
		}
	case informer.Stored:
		i.stored(e)
	case processor.Appended:
		i.appended(e, now)
	case processor.Joined:
		i.joined(e.Registration, now)
	case processor.Called:
		if h := i.handlerOf(e.Registration); h != nil {
			h.called(e, now)
		}
	case journal.Folded:
		if h := i.handlerOf(e.Registration); h != nil {
			h.fold(e)
		}
	case processor.Removed:
		i.removed(e.Registration)
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

func (i *Informer) received(resourceVersion string, now time.Time) {
	i.last = now
	if version, err := strconv.ParseUint(resourceVersion, 10, 64); err == nil {
		i.version = version % 1e15 // a float64 holds 15 digits exactly
	}
}

func (i *Informer) stored(e informer.Stored) {
	switch e.Kind {
	case processor.Added:
		i.objects++
	case processor.Deleted:
		i.objects--
	}
}

// appended adds a change to the backlogs of all handlers. A resync does not count: it is not a change,
// and not all handlers get it.
func (i *Informer) appended(e processor.Appended, now time.Time) {
	if isResync(e.Notification) {
		return
	}
	for _, h := range i.handlers {
		for _, b := range h.backlogs {
			b.waiting = append(b.waiting, now)
		}
	}
}

func (i *Informer) joined(r *processor.Registration, now time.Time) {
	h, ok := i.handlers[r.HandlerName()]
	if !ok {
		h = &handler{backlogs: map[*processor.Registration]*backlog{}}
		i.handlers[r.HandlerName()] = h
	}
	h.backlogs[r] = newBacklog(i.objects, now)
}

func (i *Informer) removed(r *processor.Registration) {
	h, ok := i.handlers[r.HandlerName()]
	if !ok {
		return
	}
	delete(h.backlogs, r)
	if len(h.backlogs) == 0 {
		delete(i.handlers, r.HandlerName())
	}
}

// handlerOf returns the handler of an event. It is nil if the handler was removed during the call
// that the event is about.
func (i *Informer) handlerOf(r *processor.Registration) *handler {
	h := i.handlers[r.HandlerName()]
	if h == nil || h.backlogs[r] == nil {
		return nil
	}
	return h
}
