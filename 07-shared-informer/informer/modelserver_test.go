// A server with a history, for the model test: its objects change, its watches
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

// A modelServer is the truth, and knows all that it ever sent.
type modelServer struct {
	mu        sync.Mutex
	changed   sync.Cond // with mu: there is more history, or a stream is to end
	objects   map[string]*corev1.ConfigMap
	uids      map[string]int
	history   []watch.Event // event n has version n; there is none with version 0
	sent      map[*corev1.ConfigMap]bool
	streams   map[*stream]bool
	compacted int   // no watch can begin before this version
	down      error // what every request is answered with, if not nil
}

func newModelServer() *modelServer {
	m := &modelServer{
		objects: map[string]*corev1.ConfigMap{}, uids: map[string]int{}, sent: map[*corev1.ConfigMap]bool{},
		streams: map[*stream]bool{}, history: make([]watch.Event, 1),
	}
	m.changed.L = &m.mu
	return m
}

// A modelListWatch is the server's side of a reflector. A plain one cannot send
// its list over the watch.
type modelListWatch struct {
	*cache.ListWatch
	plain bool
}

func (l modelListWatch) IsWatchListSemanticsUnSupported() bool { return l.plain }

func (m *modelServer) serve(plain bool) cache.ListerWatcher {
	return modelListWatch{&cache.ListWatch{ListWithContextFunc: m.list, WatchFuncWithContext: m.watch}, plain}
}

// write makes an object, or changes it. One that comes back is the same one that
// went, or another.
func (m *modelServer) write(name string, another bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := watch.Modified
	if m.objects[name] == nil {
		kind = watch.Added
		if another {
			m.uids[name]++
		}
	}
	m.objects[name] = m.emit(kind, name)
}

func (m *modelServer) remove(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects[name] != nil {
		delete(m.objects, name)
		m.emit(watch.Deleted, name)
	}
}

// emit adds to the history. The caller holds mu.
func (m *modelServer) emit(kind watch.EventType, name string) *corev1.ConfigMap {
	c := configMap(name, strconv.Itoa(len(m.history)))
	c.UID = types.UID(strconv.Itoa(m.uids[name]))
	m.sent[c] = true
	m.history = append(m.history, watch.Event{Type: kind, Object: c})
	m.changed.Broadcast()
	return c
}

// bookmark is an event of no object. It has a version of its own.
func (m *modelServer) bookmark() {
	m.mu.Lock()
	defer m.mu.Unlock()
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(len(m.history))}}
	m.history = append(m.history, watch.Event{Type: watch.Bookmark, Object: mark})
	m.changed.Broadcast()
}

// hasSent reports whether this very object came from the server.
func (m *modelServer) hasSent(c *corev1.ConfigMap) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sent[c]
}

// cut ends all watches. Expired ones cannot be resumed.
func (m *modelServer) cut(expired bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for s := range m.streams {
		s.over, s.expired = true, expired
	}
	m.changed.Broadcast()
}

// compact makes it impossible to begin a watch anywhere but now.
func (m *modelServer) compact() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.compacted = len(m.history) - 1
}

// failWith makes all requests fail, or succeed again.
func (m *modelServer) failWith(down error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// errRefused lets a reflector try its watch again; after any other error it lists.
var (
	errRefused     error = syscall.ECONNREFUSED
	errUnreachable       = errors.New("no way to the server")
)

// copies of all that there is. The caller holds mu.
func (m *modelServer) copies() (all []*corev1.ConfigMap, version string) {
	for _, c := range m.objects {
		c = c.DeepCopy()
		m.sent[c] = true
		all = append(all, c)
	}
	return all, strconv.Itoa(len(m.history) - 1)
}

func (m *modelServer) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil {
		return nil, m.down
	}
	list := &corev1.List{}
	all, version := m.copies()
	for _, c := range all {
		list.Items = append(list.Items, runtime.RawExtension{Object: c})
	}
	list.ResourceVersion = version
	return list, nil
}

func (m *modelServer) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil {
		return nil, m.down
	}
	s := &stream{server: m, events: make(chan watch.Event), stopped: make(chan struct{})}
	if options.SendInitialEvents != nil {
		all, version := m.copies()
		for _, c := range all {
			s.first = append(s.first, watch.Event{Type: watch.Added, Object: c})
		}
		s.first = append(s.first, watch.Event{Type: watch.Bookmark,
			Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				ResourceVersion: version, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
			}}})
		s.next = len(m.history)
	} else {
		version, err := strconv.Atoi(options.ResourceVersion)
		if err != nil || version < m.compacted {
			return nil, apierrors.NewResourceExpired("it is too long ago")
		}
		s.next = version + 1
	}
	m.streams[s] = true
	go s.run()
	return s, nil
}

// A stream is a watch. All but the channels is guarded by the server's mu.
type stream struct {
	server        *modelServer
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
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.server.streams[s] {
		delete(s.server.streams, s)
		s.over = true
		close(s.stopped)
		s.server.changed.Broadcast()
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
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
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
		case s.next < len(s.server.history):
			s.next++
			return s.server.history[s.next-1], true
		}
		s.server.changed.Wait()
	}
}
