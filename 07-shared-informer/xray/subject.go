// A Subject: an informer, client-go's beside it, and the handlers of both, which take
// their time, or all the time there is.

package xray

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/xray/recorder"
)

const maxHandlers = 12

// A handler is in both lanes. Its pace can be changed, even within a call.
type handler struct {
	ctx  context.Context // when it ends, every call returns at once
	name string
	undo []func() error // they remove it from the informers

	mu      sync.Mutex
	pace    string
	changed chan struct{} // closed, and made anew, when the pace changes
}

func (h *handler) setPace(pace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pace = pace
	close(h.changed)
	h.changed = make(chan struct{})
}

// work does nothing, for as long as the pace says.
func (h *handler) work() {
	for {
		h.mu.Lock()
		pace, changed := h.pace, h.changed
		h.mu.Unlock()
		var enough <-chan time.Time // never, if the handler stalls
		switch pace {
		case recorder.Fast:
			return
		case recorder.Slow:
			enough = time.After(recorder.SlowCall)
		}
		select {
		case <-enough:
			return
		case <-h.ctx.Done():
			return
		case <-changed:
		}
	}
}

// A laneHandler is what the informer of one lane calls, by its name.
type laneHandler struct {
	cache.ResourceEventHandlerDetailedFuncs
	name string
}

// Name is what our informer calls it.
func (l laneHandler) Name() string { return l.name }

// in is the handler in one lane. The observer, if it is not nil, is told of its calls.
func (h *handler) in(seen observer.Observer) cache.ResourceEventHandler {
	call := func(e observer.Event) {
		begun := time.Now()
		if h.work(); seen != nil {
			e.Kind, e.Handler, e.Key, e.Took = observer.Called, h.name, keyOf(e.New), time.Since(begun)
			seen.Observe(e)
		}
	}
	return laneHandler{cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			call(observer.Event{Type: "ADDED", New: obj, Initial: initial})
		},
		UpdateFunc: func(before, after any) { call(observer.Event{Type: "MODIFIED", Old: before, New: after}) },
		DeleteFunc: func(obj any) { call(observer.Event{Type: "DELETED", New: obj}) },
	}, h.name}
}

// A bulk is many updates of objects, round robin.
type bulk struct {
	names   []string // of the objects
	updates int
	made    atomic.Int64
}

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

	// Theirs is a source of the same objects for client-go's informer, which Start
	// makes and runs. Default: there is no such lane.
	Theirs *Source

	// Line is the way that the requests of both sources take. Default: it cannot be cut.
	Line *Line

	// Objects changes objects, in the namespace of the page. It does not go through the
	// Line.
	Objects Objects

	ctx       context.Context
	namespace string
	recorder  *recorder.Recorder
	informers map[string]cache.SharedIndexInformer // by lane
	bulk      atomic.Pointer[bulk]                 // nil unless many updates are under way
	created   atomic.Int64                         // how many names were tried for new objects

	mu       sync.Mutex // held while a handler is added or removed
	handlers map[string]*handler
	joined   int // how many there have been
}

func (s *Subject) prepare(ctx context.Context, namespace string) error {
	s.ctx, s.namespace, s.handlers = ctx, namespace, map[string]*handler{}
	s.recorder = recorder.New(recorder.Options{
		Name: s.Name, Kind: s.Kind, Namespace: namespace, Indexers: s.Indexers, Status: s.status,
		Theirs: s.Theirs != nil,
		Streams: s.Source != nil && !s.Source.plain &&
			clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient),
	})
	s.informers = map[string]cache.SharedIndexInformer{recorder.Ours: s.Informer}
	if s.Theirs != nil { // it has no observer: what it gets is seen on its way, and its handlers report their calls
		s.Theirs.observer = s.recorder.Lane(recorder.Theirs)
		s.informers[recorder.Theirs] = cache.NewSharedIndexInformer(s.Theirs, s.Example, 0, s.Indexers)
	}
	err := s.Informer.SetObserver(s.recorder.Lane(recorder.Ours))
	for _, informer := range s.informers {
		quiet := func(context.Context, *cache.Reflector, error) {} // the page shows the error
		err = errors.Join(err, informer.SetWatchErrorHandlerWithContext(quiet))
	}
	for _, pace := range []string{recorder.Fast, recorder.Slow} {
		if err == nil {
			_, err = s.addHandler(pace, pace)
		}
	}
	return err
}

// status is what the recorder shows and no event is about.
func (s *Subject) status() (now recorder.Status) {
	if s.Line != nil {
		now.Cut, now.Bytes = s.Line.cut.Load(), s.Line.bytes.Load()
	}
	if b := s.bulk.Load(); b != nil {
		now.Made, now.Updates = int(b.made.Load()), b.updates
	}
	return now
}

// addHandler adds a handler to both lanes, unless there are too many. It is numbered if
// it has no name.
func (s *Subject) addHandler(name, pace string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.handlers) >= maxHandlers {
		return "", refuse(http.StatusConflict, "there are %d handlers: remove one first", maxHandlers)
	}
	if s.joined++; name == "" {
		name = fmt.Sprint("handler-", s.joined)
	}
	h := &handler{ctx: s.ctx, name: name, pace: pace, changed: make(chan struct{})}
	for lane, informer := range s.informers {
		var seen observer.Observer // our informer reports the calls itself
		if lane == recorder.Theirs {
			seen = s.Theirs.observer
			seen.Observe(observer.Event{Kind: observer.Joined, Handler: name})
		}
		registration, err := informer.AddEventHandler(h.in(seen))
		if err != nil {
			return "", err // it has stopped
		}
		h.undo = append(h.undo, func() error { return informer.RemoveEventHandler(registration) })
	}
	s.handlers[name] = h
	s.recorder.RecordPace(name, pace)
	return name, nil
}

func (s *Subject) setPace(name, pace string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handlers[name]
	if h == nil {
		return noHandler(name)
	}
	h.setPace(pace)
	s.recorder.RecordPace(name, pace)
	return nil
}

// removeHandler removes a handler, which need not wait for its pace any more.
func (s *Subject) removeHandler(name string) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handlers[name]
	if h == nil {
		return noHandler(name)
	}
	delete(s.handlers, name)
	for _, undo := range h.undo {
		err = errors.Join(err, undo())
	}
	h.setPace(recorder.Fast)
	if s.Theirs != nil {
		s.Theirs.observer.Observe(observer.Event{Kind: observer.Removed, Handler: name})
	}
	return err
}

func noHandler(name string) error {
	return refuse(http.StatusNotFound, "there is no handler %q: choose one that the page shows", name)
}
