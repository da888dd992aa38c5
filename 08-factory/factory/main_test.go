// What the tests of this package share: a small API server, clients of it that count requests, and
// helpers.

package factory

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
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
	klog.SetLogger(klog.Logger{}) // no log: the tests ask for paths that the server does not have
	goleak.VerifyTestMain(m)
}

// A server is an API server that has lists at some paths. It streams a list over a watch, as a real
// server does. All other paths are not found.
type server struct {
	requests.Counter
	lists  map[string]iter.Seq[any] // by path
	events chan event               // sent to one of the watches

	mu    sync.Mutex
	asked []string // the path and the label selector of each request
}

// An event is an event of a watch.
type event struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

// newServer returns a server that ends with the test, and two clients of it.
func newServer(t testing.TB, lists map[string]iter.Seq[any]) (*server, kubernetes.Interface, dynamic.Interface) {
	t.Helper()
	s := &server{lists: lists, events: make(chan event)}
	listening := httptest.NewServer(s)
	transport := &http.Transport{DisableKeepAlives: true} // no connection stays open: Close would wait for it
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		listening.Close()
	})
	config := &rest.Config{Host: listening.URL, Transport: transport, QPS: -1}
	s.Count(config)
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	dynamicClient, err := dynamic.NewForConfig(config)
	must.NoError(t, err)
	return s, client, dynamicClient
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
		out.Encode(event{Type: "ADDED", Object: obj})
	}
	out.Encode(event{Type: "BOOKMARK", Object: bookmark(r.URL.Path)})
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

// typeByResource has the types of the resources that the tests list.
var typeByResource = map[string]metav1.TypeMeta{
	"configmaps":   {APIVersion: "v1", Kind: "ConfigMap"},
	"nodes":        {APIVersion: "v1", Kind: "Node"},
	"widgets":      {APIVersion: "example.com/v1", Kind: "Widget"},
	"gizmos":       {APIVersion: "example.com/v1", Kind: "Gizmo"},
	"statefulsets": {APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet"},
}

// bookmark returns the bookmark that ends a streamed list. It has the kind of the objects in the
// list.
func bookmark(urlPath string) any {
	return &metav1.PartialObjectMetadata{
		TypeMeta: typeByResource[path.Base(urlPath)],
		ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "1000000",
			Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		},
	}
}

// paths returns the path and the label selector of each request, sorted, without duplicates.
func (s *server) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.asked)))
}

// configMap returns the ConfigMap ns/name, as the server sends it.
func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: "1"},
	}
}

// configMapsNamed returns ConfigMaps with these names, as a list of the server.
func configMapsNamed(names ...string) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, name := range names {
			if !yield(configMap(name)) {
				return
			}
		}
	}
}

// start runs the factory until the test ends, and waits until its informers have synced.
func start(t testing.TB, f *Factory) {
	t.Helper()
	t.Cleanup(f.Shutdown)
	f.Start(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.NoError(t, f.WaitForCacheSync(ctx))
}
