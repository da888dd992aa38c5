// A field selector of a factory is in the lists of all its types, and only some types know the
// field.

package main

import (
	"context"
	"maps"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestAFieldSelectorOfAFactoryIsForAllTypes(t *testing.T) {
	s := sessiontest.Open(t)
	f := informers.NewSharedInformerFactoryWithOptions(s.Client, 0, informers.WithNamespace(s.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "spec.nodeName=worker-1" }))
	pods, configMaps := f.Core().V1().Pods().Informer(), f.Core().V1().ConfigMaps().Informer()
	refused := make(chan error, 100)
	must.NoError(t, configMaps.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		refused <- err
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer f.Shutdown()
	defer cancel()
	f.StartWithContext(ctx)
	must.Until(t, "the pods have synced", pods.HasSynced)
	if err := <-refused; !apierrors.IsBadRequest(err) {
		t.Errorf("the list of ConfigMaps returns the error %v, want BadRequest", err)
	}
	answer := make(chan map[reflect.Type]bool, 1)
	go func() { answer <- f.WaitForCacheSync(ctx.Done()) }()
	<-refused // the informer has tried again
	select {
	case synced := <-answer:
		t.Errorf("WaitForCacheSync() = %v, want that it waits until its channel is closed", synced)
		return
	default:
	}
	cancel()
	want := map[reflect.Type]bool{reflect.TypeFor[*corev1.Pod](): true, reflect.TypeFor[*corev1.ConfigMap](): false}
	if synced := <-answer; !maps.Equal(synced, want) {
		t.Errorf("WaitForCacheSync() = %v, want %v", synced, want)
	}
}
