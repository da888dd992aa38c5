// Error messages of controller-runtime that the field guide explains.

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/informer/scripts/harness/must"
)

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got the error %v, want one with %q", err, text)
	}
}

func TestReadsThatACacheRefuses(t *testing.T) {
	two := map[string]ctrlcache.Config{"default": {}, "kube-system": {}}
	m := newManager(t, ctrlcache.Options{DefaultNamespaces: two})
	m.create(t, "a", nil)
	var secret corev1.Secret
	wantError(t, m.GetClient().List(t.Context(), &corev1.SecretList{}),
		"the cache is not started, can not read objects")
	must.NoError(t, m.GetAPIReader().Get(t.Context(), m.key("a"), &secret))
	m.start(t)
	wantError(t, m.GetClient().Get(t.Context(), m.key("a"), &secret), "because of unknown namespace for the cache")
	byType := client.MatchingFields{".spec.kind": "a"}
	wantError(t, m.GetClient().List(t.Context(), &corev1.SecretList{}, byType),
		"ndex with name field:.spec.kind does not exist")
	wantError(t, m.GetAPIReader().List(t.Context(), &corev1.SecretList{}, byType),
		"field label not supported: .spec.kind")
	others := client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("metadata.name", "a")}
	wantError(t, m.GetClient().List(t.Context(), &corev1.SecretList{}, others),
		"non-exact field matches are not supported by the cache")
	_, err := apiutil.GVKForObject(&secret, runtime.NewScheme())
	wantError(t, err, "no kind is registered for the type v1.Secret in scheme")
}

// A write of a type with the subresource status does not save the status. Its answer is put into the
// object, so the status is lost there, too.
func TestAWriteOverwritesTheStatusOfItsObject(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	status := corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{
		Ingress: []corev1.LoadBalancerIngress{{Hostname: "example.com"}},
	}}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.Session.Namespace, Name: "a"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		Status:     status,
	}
	wantNoStatus := func(after string) {
		t.Helper()
		if got := service.Status.LoadBalancer.Ingress; len(got) != 0 {
			t.Errorf("after %s the object has the status %v, want none", after, got)
		}
	}
	must.NoError(t, m.GetClient().Create(t.Context(), service))
	wantNoStatus("Create")
	service.Labels, service.Status = labels.Set{"app": "web"}, status
	must.NoError(t, m.GetClient().Update(t.Context(), service))
	wantNoStatus("Update")
}

// The informer has synced. The handler has not, because its map function does not return.
func TestAControllerWaitsForItsHandlers(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.create(t, "a", nil)
	slow := func(ctx context.Context, _ client.Object) []reconcile.Request {
		<-ctx.Done()
		return nil
	}
	must.NoError(t, builder.ControllerManagedBy(m).Named("test").
		WithOptions(controller.Options{CacheSyncTimeout: time.Second}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(slow)).
		Complete(reconcile.Func(nil)))
	// The manager knows this informer before it starts the controller. It waits until the informer
	// has synced.
	_, err := m.GetCache().GetInformer(t.Context(), &corev1.Secret{}, ctrlcache.BlockUntilSynced(false))
	must.NoError(t, err)
	wantError(t, m.Start(t.Context()), "failed to wait for test caches to sync kind source: *v1.Secret: "+
		"timed out waiting for cache to be synced for kind source: *v1.Secret")
	if !m.made[0].HasSynced() {
		t.Error("HasSynced() of the informer = false, want true")
	}
}
