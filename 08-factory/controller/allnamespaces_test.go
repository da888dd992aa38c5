// What the first read of a cache of controller-runtime asks the server for.

package main

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
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
			var asked fault.Requests
			config := &rest.Config{Host: "http://server", Transport: &fakeapi.HTTP{
				Objects: map[string]iter.Seq[any]{"/api/v1/secrets": func(func(any) bool) {}},
				Kinds:   map[string]metav1.TypeMeta{"secrets": {APIVersion: "v1", Kind: "Secret"}},
			}}
			config.Wrap(asked.Wrap)
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
			c, err := ctrlcache.New(config, ctrlcache.Options{
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
			must.Until(t, "the informer lists", func() bool { return asked.Lists() > 0 }) // IndexField does not wait
			for _, sent := range asked.Find(0, func(sent *fault.Request) bool { return sent.Verb.Lists() }) {
				got := string(sent.Verb) + " " + sent.URL.Path
				if want := "LIST /api/v1/secrets"; got != want {
					t.Errorf("the informer sends %s, want %s", got, want)
				}
			}
		})
	}
}
