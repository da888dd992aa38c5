// A controller that is unlike notices: it runs in a manager of controller-runtime, its children are
// Services, and it has neither a finalizer nor Events. An Entrance wants a Service for each port.

package survival_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var entranceKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Entrance"}

func newEntrance() *unstructured.Unstructured {
	entrance := &unstructured.Unstructured{}
	entrance.SetGroupVersionKind(entranceKind)
	return entrance
}

// startEntrances runs the controller until ctx ends.
func startEntrances(ctx context.Context, restConfig *rest.Config, namespace string) error {
	m, err := manager.New(restConfig, manager.Options{
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Logger:     logr.Discard(),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true), MaxConcurrentReconciles: 2},
	})
	if err != nil {
		return err
	}
	err = builder.ControllerManagedBy(m).Named("entrances").For(newEntrance()).Owns(&corev1.Service{}).
		Watches(&corev1.Service{}, handler.EnqueueRequestsFromMapFunc(namesake)). // its name may be free again
		Complete(&entrances{client: m.GetClient()})
	if err != nil {
		return err
	}
	return m.Start(ctx)
}

// namesake returns the Entrance whose Services have names like that of obj: for my-shop-80 it is
// my-shop.
func namesake(_ context.Context, obj client.Object) []reconcile.Request {
	name := obj.GetName()
	if dash := strings.LastIndex(name, "-"); dash >= 0 {
		name = name[:dash]
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: name}}}
}

// entrances is a reconcile.Reconciler.
type entrances struct{ client client.Client }

func (e *entrances) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	entrance := newEntrance()
	err := e.client.Get(ctx, request.NamespacedName, entrance)
	if err != nil || entrance.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	mine, err := e.servicesOf(ctx, entrance)
	if err != nil {
		return reconcile.Result{}, err
	}
	ports, _, err := unstructured.NestedSlice(entrance.Object, "spec", "ports")
	if err != nil {
		return reconcile.Result{}, err
	}
	app, _, _ := unstructured.NestedString(entrance.Object, "spec", "app")
	selector := map[string]string{"app": app}
	var errs []error
	var right int64
	for _, port := range ports {
		name := fmt.Sprintf("%s-%d", entrance.GetName(), port)
		existing := mine[name]
		delete(mine, name)
		switch {
		case existing == nil:
			errs = append(errs, e.create(ctx, entrance, name, int32(port.(int64)), selector))
		case !maps.Equal(existing.Spec.Selector, selector):
			changed := existing.DeepCopy()
			changed.Spec.Selector = selector
			errs = append(errs, e.client.Update(ctx, changed))
		default:
			right++
		}
	}
	for _, surplus := range mine {
		err := e.client.Delete(ctx, surplus, client.Preconditions{UID: &surplus.UID})
		errs = append(errs, client.IgnoreNotFound(err))
	}
	errs = append(errs, e.updateStatus(ctx, entrance, right))
	return reconcile.Result{}, errors.Join(errs...)
}

// servicesOf returns the Services of an Entrance, by their names.
func (e *entrances) servicesOf(ctx context.Context, entrance client.Object) (map[string]*corev1.Service, error) {
	var all corev1.ServiceList
	if err := e.client.List(ctx, &all, client.InNamespace(entrance.GetNamespace())); err != nil {
		return nil, err
	}
	mine := map[string]*corev1.Service{}
	for _, service := range all.Items {
		if metav1.IsControlledBy(&service, entrance) {
			mine[service.Name] = &service
		}
	}
	return mine, nil
}

func (e *entrances) create(
	ctx context.Context, entrance client.Object, name string, port int32, selector map[string]string,
) error {
	return e.client.Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			Namespace:       entrance.GetNamespace(),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(entrance, entranceKind)},
		},
		Spec: corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Port: port}}},
	})
}

// updateStatus writes the status, unless it is the same as before.
func (e *entrances) updateStatus(ctx context.Context, entrance *unstructured.Unstructured, right int64) error {
	status := map[string]any{"services": right, "observedGeneration": entrance.GetGeneration()}
	before, _, _ := unstructured.NestedMap(entrance.Object, "status")
	if maps.Equal(before, status) {
		return nil
	}
	changed := entrance.DeepCopy()
	changed.Object["status"] = status
	return e.client.Status().Update(ctx, changed)
}
