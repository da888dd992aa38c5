package fakeapi

import (
	"context"
	"iter"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// A client lists, an informer streams its list and gets an event, and other paths are not found. When
// the informer has ended, so has the server's side of its watch: the bubble has no other goroutine.
func TestHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		named := func(name string) *corev1.ConfigMap {
			made := ConfigMap(name, "1")
			made.TypeMeta = kind
			return made
		}
		server := &HTTP{
			Objects: map[string]iter.Seq[any]{
				"/api/v1/namespaces/ns/configmaps": slices.Values([]any{named("a"), named("b")}),
			},
			Kinds:  map[string]metav1.TypeMeta{"configmaps": kind},
			Events: make(chan Event),
		}
		client, err := kubernetes.NewForConfigAndClient(&rest.Config{QPS: -1}, &http.Client{Transport: server})
		must.NoError(t, err)
		list, err := client.CoreV1().ConfigMaps("ns").List(t.Context(), metav1.ListOptions{})
		must.NoError(t, err)
		if len(list.Items) != 2 || list.ResourceVersion != listVersion {
			t.Errorf("the list is %+v, want two objects, and the version %s", list, listVersion)
		}
		_, err = client.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("List() of a path that is not there = %v, want a NotFound error", err)
		}

		informer := cache.NewSharedIndexInformerWithOptions(
			cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", "ns", fields.Everything()),
			&corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		go informer.RunWithContext(ctx)
		synctest.Wait()
		server.Events <- Event{Type: "DELETED", Object: named("a")}
		synctest.Wait()
		if keys := informer.GetStore().ListKeys(); !slices.Equal(keys, []string{"ns/b"}) {
			t.Errorf("after the list and the delete of a, the store has %q, want ns/b", keys)
		}
		cancel()
		synctest.Wait()
	})
}
