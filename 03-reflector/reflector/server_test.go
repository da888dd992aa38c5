// A server for our reflector and for client-go's, which does what a script says.

package reflector

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
)

// A server answers requests as a script says. When the script has ended, it does
// all that it is asked for.
type server struct {
	*cache.ListWatch
	mu      sync.Mutex
	script  []byte
	streams bool
	slim    string        // "": the store has no transform; "nil": it could have one
	period  time.Duration // of resyncs; 0: none
	refused int           // the resync that the store refuses; 0: none
	resyncs int
	version int
	objects map[string]*corev1.ConfigMap
	open    []*watch.FakeWatcher
	lines   []string // requests and calls of the store, in order
}

func newServer(script []byte) *server {
	s := &server{script: script, version: 10, objects: map[string]*corev1.ConfigMap{}}
	s.ListWatch = source(s.list, s.watch)
	s.streams = s.one(2) == 0
	s.slim = []string{"", "nil", "slim"}[s.one(3)]
	s.period = []time.Duration{0, 2300*time.Millisecond + 7, 17*time.Second + 7}[s.one(3)] // never at a full second
	for range s.one(4) {
		s.change()
	}
	return s
}

// one is a number below n: what the script says, or 0.
func (s *server) one(n int) int {
	if len(s.script) == 0 {
		return 0
	}
	b := s.script[0]
	s.script = s.script[1:]
	return int(b) % n
}

func (s *server) note(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// change makes a change, and returns its event.
func (s *server) change() watch.Event {
	s.version++
	name := string(rune('a' + s.one(4)))
	old := s.objects[name]
	obj := fakeapi.ConfigMap(name, strconv.Itoa(s.version))
	switch {
	case old == nil:
		s.objects[name] = obj
		return watch.Event{Type: watch.Added, Object: obj}
	case s.one(3) == 0:
		delete(s.objects, name)
		return watch.Event{Type: watch.Deleted, Object: obj}
	default:
		s.objects[name] = obj
		return watch.Event{Type: watch.Modified, Object: obj}
	}
}

// failure is one of the errors that a server has for a request; mostly nil.
func (s *server) failure() error {
	switch s.one(12) {
	case 1:
		return apierrors.NewResourceExpired("too old")
	case 2:
		tooLarge := apierrors.NewTimeoutError("too large", 1)
		tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		return tooLarge
	case 3:
		return errRefused
	case 4:
		return apierrors.NewTooManyRequests("slow down", 1)
	case 5:
		return apierrors.NewInternalError(errors.New("oh"))
	case 6:
		return apierrors.NewServiceUnavailable("later")
	}
	return nil
}

// list answers a LIST.
func (s *server) list(options metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("LIST from %q, limit %d", options.ResourceVersion, options.Limit)
	if err := s.failure(); err != nil {
		return nil, err
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		list.Items = append(list.Items, *s.objects[name])
	}
	return list, nil
}

// watch answers a WATCH with the events that it will have, the last of
// them later, perhaps.
func (s *server) watch(options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("WATCH from %q, list first: %t, bookmarks: %t", options.ResourceVersion, options.SendInitialEvents != nil,
		options.AllowWatchBookmarks)
	if err := s.failure(); err != nil {
		return nil, err
	}
	w := watch.NewFakeWithChanSize(100, false)
	s.open = append(s.open, w)
	if options.SendInitialEvents != nil {
		s.sendList(w)
	}
	for range s.one(8) {
		w.Action(s.event())
	}
	switch s.one(5) {
	case 1, 2:
		w.Stop() // and what was sent can still be read
	case 3:
		time.AfterFunc(s.aWhile(), w.Stop)
	case 4:
		event, obj := s.event()
		time.AfterFunc(s.aWhile(), func() {
			if !w.IsStopped() {
				w.Action(event, obj)
				w.Stop()
			}
		})
	}
	return w, nil
}

// aWhile is up to a minute. It never ends when a reflector warns that a list has no end, every ten seconds: of two
// things at the same time, either can come first.
func (s *server) aWhile() time.Duration {
	return time.Duration(1+s.one(60))*time.Second + 3*time.Millisecond
}

// sendList sends all objects, with a change in between, perhaps, and a mark at the
// end, mostly.
func (s *server) sendList(w *watch.FakeWatcher) {
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		w.Add(s.objects[name])
	}
	if s.one(3) == 1 {
		w.Action(s.event())
	}
	if s.one(6) != 1 {
		w.Action(watch.Bookmark, endOfList(strconv.Itoa(s.version)))
	}
}

// event is a change, a bookmark, an error, or something that nobody expects.
func (s *server) event() (watch.EventType, runtime.Object) {
	failed := func(err *apierrors.StatusError) (watch.EventType, runtime.Object) { return watch.Error, &err.ErrStatus }
	switch s.one(16) {
	case 1, 2:
		s.version += 5
		return watch.Bookmark, fakeapi.ConfigMap("", strconv.Itoa(s.version))
	case 3:
		return failed(apierrors.NewResourceExpired("too old"))
	case 4:
		return failed(apierrors.NewTooManyRequests("slow down", 1))
	case 5:
		return failed(apierrors.NewInternalError(errors.New("oh")))
	case 6:
		return watch.Added, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "no-config-map", ResourceVersion: "7"}}
	case 7:
		return "STRANGE", fakeapi.ConfigMap("", strconv.Itoa(s.version))
	}
	e := s.change()
	return e.Type, e.Object
}

// IsWatchListSemanticsUnSupported is asked by both reflectors.
func (s *server) IsWatchListSemanticsUnSupported() bool { return !s.streams }
