// The server of the tests.

package informertest

import (
	"net/http"
	"sync"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func configMap(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, ResourceVersion: version, UID: types.UID("uid-" + name),
	}}
}

// A server is a cache.ListerWatcher. It lists the objects that were set last. The events of its
// watches are what the test sends.
type server struct {
	watches chan *watch.FakeWatcher

	mu    sync.Mutex
	objs  []runtime.Object
	err   error         // what a list returns, if not nil
	held  chan struct{} // lists wait until it is closed; may be nil
	lists int           // how many lists were asked for
	asked int           // how many watches were asked for
}

func newServer(objs ...runtime.Object) *server {
	return &server{watches: make(chan *watch.FakeWatcher, 100), objs: objs}
}

// IsWatchListSemanticsUnSupported keeps newer reflectors from asking for a watch with the first
// list, because a fake watch cannot send the list.
func (s *server) IsWatchListSemanticsUnSupported() bool { return true }

// List implements cache.ListerWatcher.
func (s *server) List(metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	s.lists++
	held := s.held
	s.mu.Unlock()
	if held != nil {
		<-held
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := &corev1.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, obj := range s.objs {
		list.Items = append(list.Items, runtime.RawExtension{Object: obj})
	}
	return list, s.err
}

// Watch implements cache.ListerWatcher.
func (s *server) Watch(metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	s.asked++
	s.mu.Unlock()
	w := watch.NewFake()
	s.watches <- w
	return w, nil
}

// nextWatch waits for the next watch. Its methods Add, Modify and Delete send events, and return
// when the reflector has taken them.
func (s *server) nextWatch() *watch.FakeWatcher { return <-s.watches }

// relist lets a watch expire, so that the reflector lists again. Then the list has these objects. It
// returns the watch that follows the list.
func (s *server) relist(w *watch.FakeWatcher, objs ...runtime.Object) *watch.FakeWatcher {
	s.set(objs...)
	w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired})
	next := s.nextWatch()
	synctest.Wait()
	return next
}

// set sets the objects that lists return.
func (s *server) set(objs ...runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objs, s.err = objs, nil
}

// fail makes lists return an error, until set.
func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objs, s.err = nil, err
}

// hold makes lists wait until release is called.
func (s *server) hold() (release func()) {
	held := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = held
	return sync.OnceFunc(func() { close(held) })
}

// requests returns how many lists and watches were asked for.
func (s *server) requests() (lists, watches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, s.asked
}
