// The other lane: client-go's informer on the same objects, with the same handlers.

package xray

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// newLane returns client-go's informer. It has no observer: what it receives is seen
// on its way from the source, and its handlers say themselves when they return.
func newLane(s *Subject, r *recorder) cache.SharedIndexInformer {
	seen := func(e observer.Event, keys []string) { r.add(input{Event: e, lane: clientGo, keys: keys}) }
	var keys []string // of the pages of a list
	s.ClientGo.listed = func(options metav1.ListOptions, answer runtime.Object) {
		if options.Continue == "" {
			keys = []string{}
		}
		objs, _ := meta.ExtractList(answer) // the reflector reports an error
		for _, obj := range objs {
			keys = append(keys, keyOf(obj))
		}
		if about, err := meta.ListAccessor(answer); err == nil && about.GetContinue() == "" {
			seen(observer.Event{Kind: observer.Listed, Version: about.GetResourceVersion(), Count: len(keys)}, keys)
		}
	}
	s.ClientGo.watching = func(options metav1.ListOptions) func(watch.Event) {
		initial := options.SendInitialEvents != nil && *options.SendInitialEvents
		if initial {
			seen(observer.Event{Kind: observer.Listing, Version: options.ResourceVersion}, nil)
		}
		return func(event watch.Event) {
			switch about, err := meta.Accessor(event.Object); {
			case err != nil: // it is the server's reason to end the watch
			case event.Type != watch.Bookmark:
				seen(observer.Event{Kind: observer.Received, Type: string(event.Type), Key: keyOf(event.Object),
					New: event.Object, Version: about.GetResourceVersion(), Initial: initial}, nil)
			case initial && about.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
				initial = false
				seen(observer.Event{Kind: observer.Listed, Version: about.GetResourceVersion()}, nil)
			}
		}
	}
	return cache.NewSharedIndexInformer(s.ClientGo, s.Example, 0, s.Indexers)
}

// returned reports the calls of a handler in client-go's lane.
func (r *recorder) returned(name string) func(change string, obj any, took time.Duration) {
	types := map[string]string{
		"initial": "ADDED", "add": "ADDED", "update": "MODIFIED", "resync": "MODIFIED",
		"delete": "DELETED", "tombstone": "DELETED",
	}
	return func(change string, obj any, took time.Duration) {
		e := observer.Event{Kind: observer.Called, Handler: name, Type: types[change], Key: keyOf(obj), New: obj,
			Initial: change == "initial", Took: took}
		if change == "resync" {
			e.Old = obj
		}
		r.add(input{Event: e, lane: clientGo})
	}
}

func keyOf(obj any) string {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	return key
}

// applyTheirs takes an event of client-go's lane into account.
func (s *stations) applyTheirs(in *input) {
	switch in.Kind {
	case observer.Listing: // a streamed list begins
		clear(s.listed)
	case observer.Received:
		s.got.Received++
		keys := s.known
		if in.Initial {
			keys = s.listed
		} else {
			s.comes(1)
		}
		if keys[in.Key] = true; in.Type == "DELETED" {
			delete(keys, in.Key)
		}
	case observer.Listed:
		s.got.Received += len(in.keys)
		for _, key := range in.keys {
			s.listed[key] = true
		}
		s.replace()
	case observer.Joined:
		s.theirs[in.Handler] = &handlerState{
			handlerStation: handlerStation{Name: in.Handler, Pace: fast}, base: len(s.known),
		}
	case observer.Removed:
		delete(s.theirs, in.Handler)
	case observer.Called:
		if h := s.theirs[in.Handler]; h != nil {
			h.base = max(0, h.base-1)
			h.called(in)
		}
	}
	s.got.Objects = len(s.known)
	s.touch("client-go/informer")
	if in.Handler != "" {
		s.touch("client-go/handlers/" + in.Handler)
	}
}

// replace is for a list that is complete: each object of it comes for the handlers,
// and a tombstone for each that it lacks.
func (s *stations) replace() {
	n := len(s.listed)
	for key := range s.known {
		if !s.listed[key] {
			n++
		}
	}
	s.comes(n)
	s.known, s.listed = s.listed, map[string]bool{}
}

// comes says that so many notifications come for each handler of client-go's.
func (s *stations) comes(n int) {
	for name, h := range s.theirs {
		h.base += n
		s.touch("client-go/handlers/" + name)
	}
}
