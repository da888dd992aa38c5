// A server for our reflector and for client-go's. A script of random bytes decides how it answers.

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

// A server answers requests. Its script decides the answers. When the script has ended, all
// requests succeed.
type server struct {
	*cache.ListWatch
	supportsStreams bool
	transform       transformMode // of the store
	resyncPeriod    time.Duration // 0: no resyncs
	refusedResync   int           // the number of the resync that the store refuses; 0: none

	mu      sync.Mutex // guards the fields below
	script  []byte     // the part that is left
	resyncs int        // number of resyncs so far
	version int
	objects map[string]*corev1.ConfigMap
	lines   []string // requests, calls of the store, and lines of the log, in order
}

// A transformMode says whether the store of a server has a transform.
type transformMode int

const (
	noTransformer   transformMode = iota // the store is not a cache.TransformingStore
	nilTransformer                       // it is one, and its transform is nil
	withTransformer                      // it is one, and has a transform
	numTransformModes
)

func newServer(script []byte) *server {
	s := &server{script: script, version: 10, objects: map[string]*corev1.ConfigMap{}}
	s.ListWatch = listWatch(s.list, s.watch)
	s.supportsStreams = s.next(2) == 0
	s.transform = transformMode(s.next(int(numTransformModes)))
	periods := []time.Duration{0, 2300*time.Millisecond + 7, 17*time.Second + 7} // no resync at a full second
	s.resyncPeriod = periods[s.next(len(periods))]
	for range s.next(4) {
		s.change()
	}
	return s
}

// next takes the next byte of the script, and makes a number below n of it. At the end of the
// script it returns 0.
func (s *server) next(n int) int {
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

// change changes an object, and returns the event.
func (s *server) change() watch.Event {
	s.version++
	name := string(rune('a' + s.next(4)))
	old := s.objects[name]
	obj := fakeapi.ConfigMap(name, strconv.Itoa(s.version))
	switch {
	case old == nil:
		s.objects[name] = obj
		return watch.Event{Type: watch.Added, Object: obj}
	case s.next(3) == 0:
		delete(s.objects, name)
		return watch.Event{Type: watch.Deleted, Object: obj}
	default:
		s.objects[name] = obj
		return watch.Event{Type: watch.Modified, Object: obj}
	}
}

// nextFailure returns an error for a request, or nil. It is nil most of the time.
func (s *server) nextFailure() error {
	switch s.next(12) {
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

func (s *server) list(options metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("LIST from %q, limit %d", options.ResourceVersion, options.Limit)
	if err := s.nextFailure(); err != nil {
		return nil, err
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: s.listVersion()}}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		list.Items = append(list.Items, *s.objects[name])
	}
	return list, nil
}

// listVersion returns the version of a list. A list without one leads to a watch without one.
func (s *server) listVersion() string {
	switch s.next(6) {
	case 1:
		return ""
	case 2:
		return "0"
	}
	return strconv.Itoa(s.version)
}

// watch answers a WATCH. It decides all events of the watch in advance. The watch may send the last
// event, or end, some time later.
func (s *server) watch(options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("WATCH from %q, list first: %t, bookmarks: %t", options.ResourceVersion, options.SendInitialEvents != nil,
		options.AllowWatchBookmarks)
	if err := s.nextFailure(); err != nil {
		return nil, err
	}
	w := watch.NewFakeWithChanSize(100, false)
	if options.SendInitialEvents != nil {
		s.sendList(w)
	}
	for range s.next(8) {
		w.Action(s.nextEvent())
	}
	switch s.next(5) {
	case 1, 2:
		w.Stop() // and what was sent can still be read
	case 3:
		time.AfterFunc(s.nextDelay(), w.Stop)
	case 4:
		event, obj := s.nextEvent()
		time.AfterFunc(s.nextDelay(), func() {
			if !w.IsStopped() {
				w.Action(event, obj)
				w.Stop()
			}
		})
	}
	return w, nil
}

// nextDelay returns a time of up to a minute. It never ends at a full second. Every ten seconds, a
// reflector may warn of a list without an end, and two things at the same time can happen in any
// order.
func (s *server) nextDelay() time.Duration {
	return time.Duration(1+s.next(60))*time.Second + 3*time.Millisecond
}

// sendList sends all objects, sometimes a change, and most of the time the bookmark at the end of
// the list.
func (s *server) sendList(w *watch.FakeWatcher) {
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		w.Add(s.objects[name])
	}
	if s.next(3) == 1 {
		w.Action(s.nextEvent())
	}
	if s.next(6) != 1 {
		w.Action(watch.Bookmark, endOfList(strconv.Itoa(s.version)))
	}
}

// nextEvent returns a change, a bookmark, an error, or an event that no reflector expects.
func (s *server) nextEvent() (watch.EventType, runtime.Object) {
	failed := func(err *apierrors.StatusError) (watch.EventType, runtime.Object) { return watch.Error, &err.ErrStatus }
	switch s.next(16) {
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

// IsWatchListSemanticsUnSupported tells a reflector whether the server streams lists.
func (s *server) IsWatchListSemanticsUnSupported() bool { return !s.supportsStreams }
