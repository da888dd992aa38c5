// A Subject: an informer, client-go's beside it, and the handlers of both, which take
// their time, or all the time there is.

package xray

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/xray/recorder"
)

const maxHandlers = 12

// paces are how long a handler takes for a call.
var paces = map[string]time.Duration{
	recorder.Fast: 0, recorder.Slow: recorder.SlowCall, recorder.Stalled: math.MaxInt64,
}

type pace struct {
	took    time.Duration
	changed chan struct{} // closed when the handler gets another one
}

func newPace(name string) (*pace, error) {
	took, ok := paces[name]
	if !ok {
		return nil, refuse(http.StatusBadRequest, "there is no pace %q (known: %q)", name,
			slices.Sorted(maps.Keys(paces)))
	}
	return &pace{took, make(chan struct{})}, nil
}

// A handler is in both lanes. Its pace can be changed, even within a call.
type handler struct {
	ctx        context.Context // when it ends, every call returns at once
	pace       atomic.Pointer[pace]
	registered map[string]cache.ResourceEventHandlerRegistration // by lane
}

func (h *handler) setPace(p *pace) { close(h.pace.Swap(p).changed) }

// work does nothing, for as long as the pace says.
func (h *handler) work() {
	for p := h.pace.Load(); p.took > 0; p = h.pace.Load() {
		select {
		case <-time.After(p.took):
			return
		case <-h.ctx.Done():
			return
		case <-p.changed:
		}
	}
}

// A laneHandler is what the informer of one lane calls.
type laneHandler struct {
	*handler
	name string
	seen observer.Observer // of its calls
}

// Name is what our informer calls it.
func (l laneHandler) Name() string { return l.name }

func (l laneHandler) OnAdd(obj any, isInInitialList bool) {
	l.call(observer.Event{Type: "ADDED", New: obj, Initial: isInInitialList})
}

func (l laneHandler) OnUpdate(oldObj, newObj any) {
	l.call(observer.Event{Type: "MODIFIED", Old: oldObj, New: newObj})
}

func (l laneHandler) OnDelete(obj any) { l.call(observer.Event{Type: "DELETED", New: obj}) }

func (l laneHandler) call(e observer.Event) {
	begun := time.Now()
	l.work()
	e.Kind, e.Handler, e.Key, e.Took = observer.Called, l.name, keyOf(e.New), time.Since(begun)
	l.seen.Observe(e)
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

	Source  *Source // what the informer lists and watches
	Theirs  *Source // the same objects for client-go's informer, which Start makes and runs
	Line    *Line   // the way that the requests of both sources take
	Objects Objects // those in the namespace of the page; they do not go through the Line

	ctx       context.Context
	namespace string
	recorder  *recorder.Recorder
	lanes     map[string]lane
	bulk      atomic.Pointer[bulk] // nil unless many updates are under way
	created   atomic.Int64         // how many names were tried for new objects

	mu       sync.Mutex // held while a handler is added or removed
	handlers map[string]*handler
	joined   int // how many there have been
}

// A lane is an informer and its source. Ours has an observer. client-go's has none: what
// it gets is seen on its way, and its handlers report their calls.
type lane struct {
	cache.SharedIndexInformer
	source *Source
}

func (s *Subject) prepare(ctx context.Context, namespace string) error {
	s.ctx, s.namespace, s.handlers = ctx, namespace, map[string]*handler{}
	s.recorder = recorder.New(recorder.Options{
		Name: s.Name, Kind: s.Kind, Namespace: namespace, Indexers: s.Indexers, Status: s.status,
	})
	s.Theirs.observer = s.recorder.Lane(recorder.Theirs)
	s.lanes = map[string]lane{
		recorder.Ours:   {s.Informer, s.Source},
		recorder.Theirs: {cache.NewSharedIndexInformer(s.Theirs, s.Example, 0, s.Indexers), s.Theirs},
	}
	err := s.Informer.SetObserver(s.recorder.Lane(recorder.Ours))
	for _, l := range s.lanes {
		quiet := func(context.Context, *cache.Reflector, error) {} // the page shows the error
		err = errors.Join(err, l.SetWatchErrorHandlerWithContext(quiet))
	}
	for _, pace := range []string{recorder.Fast, recorder.Slow} {
		if err == nil {
			_, err = s.addHandler(pace, pace)
		}
	}
	return err
}

// status is what the recorder shows and no event is about.
func (s *Subject) status() recorder.Status {
	now := recorder.Status{Cut: s.Line.cut.Load(), Bytes: s.Line.bytes.Load()}
	if b := s.bulk.Load(); b != nil {
		now.Made, now.Updates = int(b.made.Load()), b.updates
	}
	return now
}

// addHandler adds a handler to both lanes, unless there are too many. It is numbered if
// it has no name.
func (s *Subject) addHandler(name, pace string) (string, error) {
	p, err := newPace(pace)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.handlers) >= maxHandlers {
		return "", refuse(http.StatusConflict, "there are %d handlers: remove one first", maxHandlers)
	}
	if s.joined++; name == "" {
		name = fmt.Sprint("handler-", s.joined)
	}
	h := &handler{ctx: s.ctx, registered: map[string]cache.ResourceEventHandlerRegistration{}}
	h.pace.Store(p)
	for of, l := range s.lanes {
		l.source.observer.Observe(observer.Event{Kind: observer.Joined, Handler: name})
		if h.registered[of], err = l.AddEventHandler(laneHandler{h, name, l.source.observer}); err != nil {
			return "", err // it has stopped
		}
	}
	s.handlers[name] = h
	s.recorder.RecordPace(name, pace)
	return name, nil
}

// withHandler does something to a handler, if there is one of that name.
func (s *Subject) withHandler(name string, do func(*handler) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.handlers[name]; h != nil {
		return do(h)
	}
	return refuse(http.StatusNotFound, "there is no handler %q: choose one that the page shows", name)
}
