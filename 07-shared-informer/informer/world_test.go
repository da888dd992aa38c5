// A server with a memory, for the model test: its objects change, its watches
// break and resume, its lists are what is true at that moment.

package informer

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// A world is the truth, and knows all that it ever said.
type world struct {
	mu      sync.Mutex
	changed sync.Cond // with mu: there is more history, or a stream is to end
	alive   map[string]*corev1.ConfigMap
	uids    map[string]int
	history []watch.Event // event n has version n; there is none with version 0
	sent    map[*corev1.ConfigMap]bool
	streams map[*stream]bool
	forgot  int   // no watch can begin before this version
	down    error // what every request is answered with, if not nil
}

func newWorld() *world {
	w := &world{
		alive: map[string]*corev1.ConfigMap{}, uids: map[string]int{}, sent: map[*corev1.ConfigMap]bool{},
		streams: map[*stream]bool{}, history: make([]watch.Event, 1),
	}
	w.changed.L = &w.mu
	return w
}

// served is the world as a ListerWatcher sees it. A plain one cannot send its
// list over the watch.
type served struct {
	*cache.ListWatch
	plain bool
}

func (s served) IsWatchListSemanticsUnSupported() bool { return s.plain }

func (w *world) serve(plain bool) cache.ListerWatcher {
	return served{&cache.ListWatch{ListWithContextFunc: w.list, WatchFuncWithContext: w.watch}, plain}
}

// write makes an object, or changes it. One that comes back is the same one that
// went, or another.
func (w *world) write(name string, another bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := watch.Modified
	if w.alive[name] == nil {
		kind = watch.Added
		if another {
			w.uids[name]++
		}
	}
	w.alive[name] = w.say(kind, name)
}

func (w *world) remove(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alive[name] != nil {
		delete(w.alive, name)
		w.say(watch.Deleted, name)
	}
}

// say adds to the history. The caller holds mu.
func (w *world) say(kind watch.EventType, name string) *corev1.ConfigMap {
	c := configMap(name, strconv.Itoa(len(w.history)))
	c.UID = types.UID(strconv.Itoa(w.uids[name]))
	w.sent[c] = true
	w.history = append(w.history, watch.Event{Type: kind, Object: c})
	w.changed.Broadcast()
	return c
}

// bookmark is an event of no object. It has a version of its own.
func (w *world) bookmark() {
	w.mu.Lock()
	defer w.mu.Unlock()
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(len(w.history))}}
	w.history = append(w.history, watch.Event{Type: watch.Bookmark, Object: mark})
	w.changed.Broadcast()
}

// cut ends all watches. Expired ones cannot be resumed.
func (w *world) cut(expired bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.streams {
		s.over, s.expired = true, expired
	}
	w.changed.Broadcast()
}

// forget makes it impossible to begin a watch anywhere but now.
func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgot = len(w.history) - 1
}

// reach makes all requests fail, or succeed again.
func (w *world) reach(down error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

// errRefused lets a reflector try its watch again; after any other error it lists.
var (
	errRefused     error = syscall.ECONNREFUSED
	errUnreachable       = errors.New("no way to the server")
)

// copies of all that there is. The caller holds mu.
func (w *world) copies() (all []*corev1.ConfigMap, version string) {
	for _, c := range w.alive {
		c = c.DeepCopy()
		w.sent[c] = true
		all = append(all, c)
	}
	return all, strconv.Itoa(len(w.history) - 1)
}

func (w *world) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down != nil {
		return nil, w.down
	}
	list := &corev1.List{}
	all, version := w.copies()
	for _, c := range all {
		list.Items = append(list.Items, runtime.RawExtension{Object: c})
	}
	list.ResourceVersion = version
	return list, nil
}

func (w *world) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down != nil {
		return nil, w.down
	}
	s := &stream{world: w, events: make(chan watch.Event), stopped: make(chan struct{})}
	if options.SendInitialEvents != nil {
		all, version := w.copies()
		for _, c := range all {
			s.first = append(s.first, watch.Event{Type: watch.Added, Object: c})
		}
		s.first = append(s.first, watch.Event{Type: watch.Bookmark,
			Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				ResourceVersion: version, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
			}}})
		s.next = len(w.history)
	} else {
		version, err := strconv.Atoi(options.ResourceVersion)
		if err != nil || version < w.forgot {
			return nil, apierrors.NewResourceExpired("it is too long ago")
		}
		s.next = version + 1
	}
	w.streams[s] = true
	go s.run()
	return s, nil
}

// A stream is a watch. All but the channels is guarded by the world's mu.
type stream struct {
	world         *world
	events        chan watch.Event
	stopped       chan struct{}
	first         []watch.Event // before the history
	next          int           // in the history
	over, expired bool
}

// ResultChan implements watch.Interface.
func (s *stream) ResultChan() <-chan watch.Event { return s.events }

// Stop implements watch.Interface.
func (s *stream) Stop() {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	if s.world.streams[s] {
		delete(s.world.streams, s)
		s.over = true
		close(s.stopped)
		s.world.changed.Broadcast()
	}
}

func (s *stream) run() {
	defer close(s.events)
	for event, ok := s.wait(); ok; event, ok = s.wait() {
		select {
		case s.events <- event:
		case <-s.stopped:
			return
		}
	}
}

// wait returns the next event, if there is to be one.
func (s *stream) wait() (event watch.Event, ok bool) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	for {
		switch {
		case s.expired:
			s.expired = false
			return watch.Event{Type: watch.Error, Object: &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
			}}, true
		case s.over:
			return event, false
		case len(s.first) > 0:
			event, s.first = s.first[0], s.first[1:]
			return event, true
		case s.next < len(s.world.history):
			s.next++
			return s.world.history[s.next-1], true
		}
		s.world.changed.Wait()
	}
}
