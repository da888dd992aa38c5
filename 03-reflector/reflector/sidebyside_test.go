// Our reflector beside client-go's: the same server makes both send the same
// requests, and make the same calls of their stores.

package reflector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// A server answers requests as a script says. When the script has ended, it does
// all that it is asked for.
type server struct {
	mu      sync.Mutex
	script  []byte
	streams bool
	version int
	objects map[string]*corev1.ConfigMap
	open    []*watch.FakeWatcher
	lines   []string // requests and calls of the store, in order
}

func newServer(script []byte) *server {
	s := &server{script: script, version: 10, objects: map[string]*corev1.ConfigMap{}}
	s.streams = s.one(2) == 0
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
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, ResourceVersion: strconv.Itoa(s.version)}}
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
		return &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}
	case 4:
		return apierrors.NewTooManyRequests("slow down", 1)
	case 5:
		return apierrors.NewInternalError(errors.New("oh"))
	case 6:
		return apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "list", schema.GroupResource{}, "", "", 0, true)
	}
	return nil
}

// ListWithContext answers a LIST.
func (s *server) ListWithContext(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("LIST from %q, limit %d", options.ResourceVersion, options.Limit)
	if err := s.failure(); err != nil {
		return nil, err
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, name := range s.names() {
		list.Items = append(list.Items, *s.objects[name])
	}
	return list, nil
}

func (s *server) names() (names []string) {
	for name := range s.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// WatchWithContext answers a WATCH with all the events that it will have.
func (s *server) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
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
	if s.one(3) > 0 {
		w.Stop() // and what was sent can still be read
	}
	return w, nil
}

// sendList sends all objects, with a change in between, perhaps, and a mark at the
// end, mostly.
func (s *server) sendList(w *watch.FakeWatcher) {
	for _, name := range s.names() {
		w.Add(s.objects[name])
	}
	if s.one(3) == 1 {
		w.Action(s.event())
	}
	if s.one(6) == 1 {
		return
	}
	w.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: strconv.Itoa(s.version), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}})
}

// event is a change, a bookmark, an error, or something that nobody expects.
func (s *server) event() (watch.EventType, runtime.Object) {
	switch s.one(16) {
	case 1, 2:
		s.version += 5
		return watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(s.version)}}
	case 3:
		status := apierrors.NewResourceExpired("too old").Status()
		return watch.Error, &status
	case 4:
		status := apierrors.NewTooManyRequests("slow down", 1).Status()
		return watch.Error, &status
	case 5:
		status := apierrors.NewInternalError(errors.New("oh")).Status()
		return watch.Error, &status
	case 6:
		return watch.Added, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "no-config-map", ResourceVersion: "7"}}
	case 7:
		return "STRANGE", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: strconv.Itoa(s.version)}}
	}
	e := s.change()
	return e.Type, e.Object
}

// List and Watch are never called.
func (s *server) List(metav1.ListOptions) (runtime.Object, error)   { panic("without a context") }
func (s *server) Watch(metav1.ListOptions) (watch.Interface, error) { panic("without a context") }

// IsWatchListSemanticsUnSupported is asked by both reflectors.
func (s *server) IsWatchListSemanticsUnSupported() bool { return !s.streams }

// A store writes down its calls, and refuses some of them.
type store struct{ *server }

func (s store) call(name string, obj any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("%s %s", name, text(obj))
	if s.one(30) == 1 {
		return errors.New("the store does not want it")
	}
	return nil
}

func (s store) Add(obj any) error             { return s.call("Add", obj) }
func (s store) Update(obj any) error          { return s.call("Update", obj) }
func (s store) Delete(obj any) error          { return s.call("Delete", obj) }
func (s store) Bookmark(version string) error { return s.call("Bookmark", version) }
func (s store) Resync() error                 { return s.call("Resync", "") }

func (s store) Replace(list []any, version string) error {
	var all []string
	for _, obj := range list {
		all = append(all, text(obj))
	}
	slices.Sort(all) // a streamed list has no order, with client-go
	return s.call("Replace "+strings.Join(all, " ")+" as of", version)
}

func (s store) UpdateResourceVersion(version string) { _ = s.call("UpdateResourceVersion", version) }

func text(obj any) string {
	if object, ok := obj.(metav1.Object); ok {
		return object.GetName() + "@" + object.GetResourceVersion()
	}
	return fmt.Sprint(obj)
}

// reflect runs a reflector until nothing more happens, and returns what it did.
func play(t *testing.T, script []byte, run func(context.Context, *server)) (lines []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); run(ctx, s) }()
		time.Sleep(24 * time.Hour)
		cancel()
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("it has not ended")
		}
		time.Sleep(time.Hour) // for client-go's
		s.mu.Lock()
		defer s.mu.Unlock()
		lines = s.lines
	})
	return lines
}

func ours(ctx context.Context, s *server) {
	New(Options{ListerWatcher: s, Store: store{s}, ExpectedType: &corev1.ConfigMap{}}).Run(ctx)
}

func theirs(ctx context.Context, s *server) {
	cache.NewReflectorWithOptions(s, &corev1.ConfigMap{}, store{s}, cache.ReflectorOptions{}).RunWithContext(ctx)
}

func compare(t *testing.T, script []byte) {
	t.Helper()
	a, b := play(t, script, theirs), play(t, script, ours)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("script %v: they differ at %d\nclient-go:\n  %s\nours:\n  %s", script, i,
				strings.Join(a[max(0, i-6):min(len(a), i+3)], "\n  "), strings.Join(b[max(0, i-6):min(len(b), i+3)], "\n  "))
		}
	}
}

func TestBesideClientGos(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		script := make([]byte, 200)
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		compare(t, script)
	}
}

func FuzzBesideClientGos(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("a script is a list of bytes"))
	f.Fuzz(compare)
}
