// Package fakeapi has API servers in memory, for tests. Server is a ListerWatcher: a test sets the
// objects of its lists, and sends the events of its watches. HTTP is for tests with a real client.
package fakeapi

import (
	"context"
	"net/http"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// ConfigMap returns a ConfigMap with this name and this resource version.
func ConfigMap(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, ResourceVersion: version, UID: types.UID("uid-" + name),
	}}
}

// A Server lists the objects that were set last. NextWatch gives each watch to the test.
type Server struct {
	*cache.ListWatch
	watches chan *watch.FakeWatcher
	lists   atomic.Int64           // how many lists were asked for
	answer  atomic.Pointer[answer] // the answer to a list
}

// An answer is the answer to a list.
type answer struct {
	version string
	objs    []runtime.Object
	err     error
}

// New returns a server that has these objects.
func New(objs ...runtime.Object) *Server {
	s := &Server{watches: make(chan *watch.FakeWatcher, 10)}
	s.Set(objs...)
	s.ListWatch = &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
	return s
}

// IsWatchListSemanticsUnSupported keeps the reflector from asking for a watch with the initial
// list, because a fake watch cannot send the list.
func (s *Server) IsWatchListSemanticsUnSupported() bool { return true }

// Set sets the objects that a list returns.
func (s *Server) Set(objs ...runtime.Object) { s.SetVersion("1", objs...) }

// SetVersion is Set for a list with this resource version.
func (s *Server) SetVersion(version string, objs ...runtime.Object) {
	s.answer.Store(&answer{version: version, objs: objs})
}

// Fail makes lists return an error, until Set or SetVersion.
func (s *Server) Fail(err error) { s.answer.Store(&answer{err: err}) }

// Lists returns how many lists were asked for.
func (s *Server) Lists() int { return int(s.lists.Load()) }

// NextWatch waits for the next watch and returns it. Its methods Add, Modify and Delete send
// events, and return when the reflector has taken them.
func (s *Server) NextWatch() *watch.FakeWatcher { return <-s.watches }

// Expire sends the error 410, Expired, to a watch, so that the reflector lists again.
func Expire(w *watch.FakeWatcher) {
	w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired})
}

func (s *Server) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.lists.Add(1)
	answer := s.answer.Load()
	list := &corev1.List{ListMeta: metav1.ListMeta{ResourceVersion: answer.version}}
	for _, obj := range answer.objs {
		list.Items = append(list.Items, runtime.RawExtension{Object: obj})
	}
	return list, answer.err
}

func (s *Server) watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	w := watch.NewFake()
	select {
	case s.watches <- w:
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
