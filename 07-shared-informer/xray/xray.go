// Package xray shows an informer at work on a web page, beside client-go's: what it
// gets, stores, and hands to handlers that are fast, slow or stalled. The page's
// buttons change objects, cut the connection, and add and remove handlers.
package xray

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/informer"
)

// A Subject is an informer to look into, and what the buttons need. It is used once.
type Subject struct {
	Name     string             // such as "configmaps"
	Kind     string             // such as "ConfigMap"
	Example  runtime.Object     // such as &corev1.ConfigMap{}
	Informer *informer.Informer // has not started; its owner runs it
	Indexers cache.Indexers     // those of the informer

	// Source is what the informer lists and watches. Default: its watches cannot be
	// made to expire.
	Source *Source

	// ClientGo is a source of the same objects for client-go's informer, which Start
	// makes and runs. Default: there is no such lane.
	ClientGo *Source

	// Line is the way that the requests of both sources take. Default: it cannot be cut.
	Line *Line

	// Objects changes objects, in the namespace of the page. It does not go through the
	// Line.
	Objects Objects

	namespace string
	recorder  *recorder
	lane      cache.SharedIndexInformer
	bulk      atomic.Pointer[bulk] // nil unless many updates are under way
	ended     <-chan struct{}      // closed when all is to end
	named     atomic.Int64         // how many handlers have asked for a name

	mu      sync.Mutex // held while a handler is added or removed
	members map[string]*member
}

// An XRay is the page, and all that works behind it.
type XRay struct {
	subjects  []*Subject
	namespace string
	instance  string
	token     string // a request that does something must know it
	ctx       context.Context
	starting  sync.Mutex // held while something is added to running
	running   sync.WaitGroup
	limit     flowcontrol.PassiveRateLimiter // of those requests
	streams   chan struct{}                  // holds one element for each client that gets events
	created   atomic.Int64                   // how many names were tried for new objects
}

// Start begins to look into informers, which must not have started, until ctx ends.
// The page is about one namespace: no object of another is shown or changed.
func Start(ctx context.Context, namespace string, subjects ...*Subject) (*XRay, error) {
	x := &XRay{
		subjects: subjects, namespace: namespace, instance: rand.Text(), token: rand.Text(), ctx: ctx,
		limit: flowcontrol.NewTokenBucketPassiveRateLimiter(10, 20), streams: make(chan struct{}, maxStreams),
	}
	for _, s := range subjects {
		if err := s.prepare(ctx, namespace); err != nil {
			return nil, fmt.Errorf("looking into the informer %s: %w", s.Name, err)
		}
	}
	for _, s := range subjects {
		x.running.Go(func() { s.recorder.run(ctx) })
		if s.lane != nil {
			x.running.Go(func() { s.lane.RunWithContext(ctx) })
		}
		context.AfterFunc(ctx, s.release)
	}
	return x, nil
}

// Wait returns when the context has ended, and with it all that Start has begun.
func (x *XRay) Wait() {
	<-x.ctx.Done()
	x.starting.Lock() // from here on, nothing is added
	defer x.starting.Unlock()
	x.running.Wait()
}

// background runs something for which Wait waits, unless all is about to end.
func (x *XRay) background(do func()) error {
	x.starting.Lock()
	defer x.starting.Unlock()
	if x.ctx.Err() == nil {
		x.running.Go(do)
	}
	return x.ctx.Err()
}

func (s *Subject) prepare(ctx context.Context, namespace string) error {
	s.namespace, s.ended, s.members = namespace, ctx.Done(), map[string]*member{}
	s.recorder = newRecorder(s)
	if err := s.Informer.SetObserver(s.recorder); err != nil {
		return err
	}
	quiet := func(context.Context, *cache.Reflector, error) {} // the page shows the error
	if err := s.Informer.SetWatchErrorHandlerWithContext(quiet); err != nil {
		return err
	}
	if s.ClientGo != nil {
		s.lane = newLane(s, s.recorder)
		if err := s.lane.SetWatchErrorHandlerWithContext(quiet); err != nil {
			return err
		}
	}
	for _, pace := range []string{fast, slow} {
		if err := s.addHandler(pace, pace); err != nil {
			return err
		}
	}
	return nil
}

// streams is whether the reflector asks for its lists over a watch.
func (s *Subject) streams() bool {
	return s.Source != nil && !s.Source.IsWatchListSemanticsUnSupported() &&
		clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient)
}

// mayShow is whether the contents of an object may be shown.
func (s *Subject) mayShow(obj any) bool {
	about, err := meta.Accessor(withoutTombstone(obj))
	return err == nil && s.Kind != "Secret" && about.GetNamespace() == s.namespace
}

func withoutTombstone(obj any) any {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return obj
}

// handlers are those that Start and the buttons have added.
func (s *Subject) handlers() []*member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.members))
}

// addHandler adds a handler to both lanes, unless there are too many.
func (s *Subject) addHandler(name, pace string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.members) >= maxHandlers {
		return refuse(http.StatusConflict, "there are %d handlers: remove one first", maxHandlers)
	}
	m := &member{}
	m.lanes[0] = newHandler(name, pace)
	registration, err := s.Informer.AddEventHandler(m.lanes[0])
	if err != nil {
		return err
	}
	m.undo[0] = func() error { return s.Informer.RemoveEventHandler(registration) }
	if s.lane != nil {
		m.lanes[1] = newHandler(name, pace)
		m.lanes[1].returned = s.recorder.returned(name)
		s.recorder.add(input{Event: observer.Event{Kind: observer.Joined, Handler: name}, lane: clientGo})
		theirs, err := s.lane.AddEventHandler(m.lanes[1])
		if err != nil {
			return errors.Join(err, m.undo[0]())
		}
		m.undo[1] = func() error { return s.lane.RemoveEventHandler(theirs) }
	}
	s.members[name] = m
	select {
	case <-s.ended: // release may have come before
		m.each(func(h *handler) { h.leave() })
	default:
	}
	return nil
}

// release lets all handlers return.
func (s *Subject) release() {
	for _, m := range s.handlers() {
		m.each(func(h *handler) { h.leave() })
	}
}
