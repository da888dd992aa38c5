// What the tests of this package share: an API server in memory, and helpers.

package factory

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // no log: the tests ask for paths that the server does not have
	goleak.VerifyTestMain(m)
}

// A server is an API server, and the requests that it has received.
type server struct {
	fault.Requests
	fakeapi.HTTP
}

// newServer returns a server with lists at some paths, and two clients of it.
func newServer(t testing.TB, lists map[string]iter.Seq[any]) (*server, kubernetes.Interface, dynamic.Interface) {
	t.Helper()
	s := &server{HTTP: fakeapi.HTTP{Objects: lists, Kinds: typeByResource, Events: make(chan fakeapi.Event)}}
	config := &rest.Config{Host: "http://server", Transport: &s.HTTP, QPS: -1}
	config.Wrap(s.Wrap)
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	dynamicClient, err := dynamic.NewForConfig(config)
	must.NoError(t, err)
	return s, client, dynamicClient
}

// typeByResource has the types of the resources that the tests list.
var typeByResource = map[string]metav1.TypeMeta{
	"configmaps":   {APIVersion: "v1", Kind: "ConfigMap"},
	"nodes":        {APIVersion: "v1", Kind: "Node"},
	"widgets":      {APIVersion: "example.com/v1", Kind: "Widget"},
	"gizmos":       {APIVersion: "example.com/v1", Kind: "Gizmo"},
	"statefulsets": {APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet"},
}

// paths returns the path and the label selector of each request, sorted, without duplicates.
func (s *server) paths() []string {
	var asked []string
	for _, sent := range s.Find(0, func(*fault.Request) bool { return true }) {
		asked = append(asked, sent.URL.Path+" "+sent.URL.Query().Get("labelSelector"))
	}
	slices.Sort(asked)
	return slices.Compact(asked)
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
