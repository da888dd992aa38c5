// The contract of an informer is tested in package informer, with client-go's informer, our other
// one, and this one. Here is the rest.

package classic_test

import (
	"context"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/classic"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An index function runs under locks of the informer. The program may end in it: before the start,
// when a program adds an index over objects that it has put into the store itself, and later.
func TestAnIndexFunctionMayEndTheRun(t *testing.T) {
	for name, objects := range map[string][]*corev1.ConfigMap{
		"before the start": {fakeapi.ConfigMap("mine", "1")},
		"while it runs":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				informer := classic.New(fakeapi.New(fakeapi.ConfigMap("a", "1")), &corev1.ConfigMap{},
					cache.SharedIndexInformerOptions{})
				for _, object := range objects {
					must.NoError(t, informer.GetStore().Add(object))
				}
				must.NoError(t, informer.AddIndexers(cache.Indexers{"i": func(any) ([]string, error) {
					cancel()
					return nil, nil
				}}))
				informer.RunWithContext(ctx)
				if !informer.IsStopped() {
					t.Error("IsStopped() = false, want true")
				}
			})
		})
	}
}
