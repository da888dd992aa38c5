// Steps on a server that is slow to answer: a step that waits for its caches does not notice.

package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// named returns the metadata of an object of the step's namespace.
func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": "web"}}
}

// newLateClient returns a client that does not list this resource in the first minutes. "*" means
// all resources.
func newLateClient(resource string) *fake.Clientset {
	owned := named("web-1")
	owned.OwnerReferences = []metav1.OwnerReference{{Name: "web"}}
	client := fake.NewClientset(
		&appsv1.Deployment{ObjectMeta: named("web")},
		&appsv1.ReplicaSet{ObjectMeta: owned},
		&corev1.ConfigMap{ObjectMeta: named("kube-root-ca.crt")},
		&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node"},
			Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux"}},
		},
		&corev1.Pod{ObjectMeta: named("web"), Spec: corev1.PodSpec{NodeName: "node"}},
		&corev1.Service{ObjectMeta: named("web")},
		&corev1.ServiceAccount{ObjectMeta: named("default")},
	)
	start := time.Now()
	client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		if time.Since(start) < 5*time.Minute {
			return true, nil, errors.New("the server is starting")
		}
		return false, nil, nil
	})
	return client
}

// It does not matter which of the caches is the last one to sync.
func TestTheStepsWaitForTheirCaches(t *testing.T) {
	reporters := utilruntime.ErrorHandlers
	t.Cleanup(func() { utilruntime.ErrorHandlers = reporters })
	utilruntime.ErrorHandlers = nil // the reflectors would report each list that fails
	for _, test := range []struct {
		name string
		run  func(context.Context, *step.Env) error
		late []string // each of them in turn
		want []string
	}{
		{"generic", stepGeneric, []string{"*", "configmaps", "pods", "serviceaccounts"}, []string{
			"configmaps : kube-root-ca.crt, of type *v1.ConfigMap",
			"pods : web, of type *v1.Pod",
			"serviceaccounts : default, of type *v1.ServiceAccount",
			"an informer of unicorns.v1.example.com: client-go has no type for it, and the factory no dynamic " +
				"client: set Options.Dynamic",
			"an informer of tokenreviews.v1.authentication.k8s.io: the clientset cannot list and watch them",
		}},
		{"listers", stepListers, []string{"*", "deployments", "nodes", "pods", "replicasets", "services"}, []string{
			"deployments : web",
			`deployment shop : deployment.apps "shop" not found`,
			"replica sets with app=web : 1, owned by web",
			"pods with app=web : 1, on a node with linux",
			"pods with app=db : []",
			"pods of kube-system : []",
			"services : web",
			"requests for all these answers : none",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, late := range test.late {
				synctest.Test(t, func(t *testing.T) {
					var out strings.Builder
					env := &step.Env{
						Env: &play.Env{Out: &out}, Requests: &fault.Requests{},
						Client: newLateClient(late), Namespace: "ns",
					}
					if err := test.run(t.Context(), env); err != nil {
						t.Errorf("step %s: %v", test.name, err)
					}
					got := strings.Split(strings.TrimSpace(out.String()), "\n")
					if !slices.Equal(got, test.want) {
						t.Errorf("step %s printed, when the list of %s is late,\n%s\nwant\n%s", test.name, late,
							&out, strings.Join(test.want, "\n"))
					}
				})
			}
		})
	}
}

// A step whose caches do not sync in time says so. To read them would look like an empty cluster.
func TestTheStepsReturnTheErrorOfTheWait(t *testing.T) {
	reporters := utilruntime.ErrorHandlers
	t.Cleanup(func() { utilruntime.ErrorHandlers = reporters })
	utilruntime.ErrorHandlers = nil // the reflectors would report each list that fails
	for _, test := range []struct {
		name string
		run  func(context.Context, *step.Env) error
		late []string // each of them in turn
	}{
		{"generic", stepGeneric, []string{"configmaps"}}, // the first type that it prints
		{"listers", stepListers, []string{"deployments", "nodes", "pods", "replicasets", "services"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, late := range test.late {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					var out strings.Builder
					env := &step.Env{
						Env: &play.Env{Out: &out}, Requests: &fault.Requests{},
						Client: newLateClient(late), Namespace: "ns",
					}
					err := test.run(ctx, env)
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("step %s returns %v when there are no %s in time, want %v", test.name, err, late,
							context.DeadlineExceeded)
					}
					if out.Len() > 0 {
						t.Errorf("step %s printed\n%swithout the %s, want nothing", test.name, &out, late)
					}
				})
			}
		})
	}
}
