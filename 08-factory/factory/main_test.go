// What the tests of this package share: an API server of one screen, and
// clients of it that are counted.

package factory

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/requests"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // quiet: paths that are not there are meant to be
	goleak.VerifyTestMain(m)
}

// A server has lists at some paths, and streams them as a real one does. All
// other paths are not found.
type server struct {
	requests.Counter
	lists  map[string]iter.Seq[any]
	events chan event // for whoever watches

	mu    sync.Mutex
	asked []string // the paths and selectors of all requests
}

type event struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

// newServer returns a server that ends with the test, and clients of it.
func newServer(t testing.TB, lists map[string]iter.Seq[any]) (*server, kubernetes.Interface, dynamic.Interface) {
	t.Helper()
	s := &server{lists: lists, events: make(chan event)}
	listening := httptest.NewServer(s)
	transport := &http.Transport{DisableKeepAlives: true} // so that none is left open
	t.Cleanup(func() { transport.CloseIdleConnections(); listening.Close() })
	config := &rest.Config{Host: listening.URL, Transport: transport, QPS: -1}
	s.Count(config)
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	dyn, err := dynamic.NewForConfig(config)
	must.Do(t, err)
	return s, client, dyn
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path+" "+query.Get("labelSelector"))
	s.mu.Unlock()
	list, ok := s.lists[r.URL.Path]
	if !ok || query.Get("sendInitialEvents") != "true" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := json.NewEncoder(w)
	for obj := range list {
		out.Encode(event{"ADDED", obj})
	}
	out.Encode(event{"BOOKMARK", bookmark(r.URL.Path)})
	for {
		http.NewResponseController(w).Flush()
		select {
		case e := <-s.events:
			out.Encode(e)
		case <-r.Context().Done():
			return
		}
	}
}

// bookmark ends a list; it has to be of the list's kind.
func bookmark(path string) any {
	kind := map[string]string{
		"configmaps": "v1 ConfigMap", "nodes": "v1 Node", "widgets": "example.com/v1 Widget",
		"gizmos": "example.com/v1 Gizmo", "statefulsets": "apps.kruise.io/v1beta1 StatefulSet",
	}
	version, name, _ := strings.Cut(kind[path[strings.LastIndex(path, "/")+1:]], " ")
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: name},
		ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "1000000",
			Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		},
	}
}

// paths returns where the server was asked, each once, in order.
func (s *server) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.asked)))
}

// configMap is object name, as the server sends it.
func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: "1"},
	}
}

// these is a list of ConfigMaps.
func these(names ...string) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, name := range names {
			if !yield(configMap(name)) {
				return
			}
		}
	}
}

// wantNoMore wants no more goroutines than there were before. The last of them may be on their way out, and goleak's
// own patience is less than half a second.
func wantNoMore(t testing.TB, before goleak.Option) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		err := goleak.Find(before)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Error(err)
			return
		}
	}
}

// start starts the factory until the test ends, and waits until it has synced.
func start(t testing.TB, f *Factory) {
	t.Helper()
	t.Cleanup(f.Shutdown)
	f.Start(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.Do(t, f.WaitForCacheSync(ctx))
}
