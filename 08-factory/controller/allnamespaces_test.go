// What the first read of a cache of controller-runtime asks the server for.

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/informer/scripts/harness/must"
)

// A plainLister is a ListerWatcher that says that it cannot stream.
type plainLister struct{ cache.ListerWatcher }

// IsWatchListSemanticsUnSupported is the method that client-go looks for.
func (plainLister) IsWatchListSemanticsUnSupported() bool { return true }

// The first read of a type, or its first index, makes an informer of all namespaces. Its list is not
// streamed, because the ListerWatcher says so.
func TestAReadMakesAnInformerOfAllNamespaces(t *testing.T) {
	for name, read := range map[string]func(context.Context, ctrlcache.Cache) error{
		"Get": func(ctx context.Context, c ctrlcache.Cache) error {
			err := c.Get(ctx, types.NamespacedName{Namespace: "ns", Name: "no-such-secret"}, &corev1.Secret{})
			if apierrors.IsNotFound(err) { // the informer has synced
				return nil
			}
			return fmt.Errorf("Get() = %w, want a NotFound error", err)
		},
		"List": func(ctx context.Context, c ctrlcache.Cache) error {
			return c.List(ctx, &corev1.SecretList{}, client.InNamespace("ns"))
		},
		"IndexField": func(ctx context.Context, c ctrlcache.Cache) error {
			return c.IndexField(ctx, &corev1.Secret{}, "name", func(client.Object) []string { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			lists := make(chan string, 10)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Query().Get("sendInitialEvents") != "" {
					t.Errorf("the informer asks for %s, want no stream", r.URL)
				}
				if r.URL.Query().Get("watch") != "" {
					w.(http.Flusher).Flush()
					<-r.Context().Done()
					return
				}
				lists <- r.URL.Path
				fmt.Fprint(w, `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"1"}}`)
			}))
			t.Cleanup(server.Close)
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
			c, err := ctrlcache.New(&rest.Config{Host: server.URL}, ctrlcache.Options{
				Mapper: mapper,
				NewInformer: func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
					indexers cache.Indexers) cache.SharedIndexInformer {
					return cache.NewSharedIndexInformer(plainLister{lw}, example, resync, indexers)
				},
			})
			must.NoError(t, err)
			must.Run(t, func(ctx context.Context) { must.NoError(t, c.Start(ctx)) })
			c.WaitForCacheSync(t.Context()) // until it has started
			must.NoError(t, read(t.Context(), c))
			if got, want := <-lists, "/api/v1/secrets"; got != want {
				t.Errorf("the informer lists %s, want %s", got, want)
			}
		})
	}
}
