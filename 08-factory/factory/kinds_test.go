package factory

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// In the list, in what comes after, and in the last state.
func TestKinds(t *testing.T) {
	for _, test := range []struct {
		options Options
		kind    string
	}{{Options{}, "/"}, {Options{Kinds: true}, "v1/ConfigMap"}} {
		server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
		f := New(client, test.options)
		var calls []string
		ended := make(chan struct{})
		tell := func(call string, obj any) {
			typed := obj.(*corev1.ConfigMap)
			calls = append(calls, fmt.Sprintf("%s %s %s/%s", call, typed.Name, typed.APIVersion, typed.Kind))
		}
		_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { tell("add", obj) },
			UpdateFunc: func(oldObj, newObj any) { tell("update from", oldObj); tell("to", newObj) },
			DeleteFunc: func(obj any) { tell("delete", obj); close(ended) },
		})
		must.Do(t, err)
		start(t, f)
		for _, kind := range []string{"MODIFIED", "DELETED"} {
			obj := configMap("a")
			obj.ResourceVersion = "1000001"
			server.events <- event{kind, obj}
		}
		<-ended
		f.Shutdown()
		want := []string{"add a " + test.kind, "update from a " + test.kind, "to a " + test.kind, "delete a " +
			test.kind}
		expect.That(t, slices.Equal(calls, want), "got %q, want %q", calls, want)
	}
}

func TestKindsOfATombstone(t *testing.T) {
	server := fakeapi.New(&corev1.ConfigMap{ObjectMeta: configMap("a").ObjectMeta})
	f := New(nowhere(t), Options{Kinds: true})
	informer := f.ClientGo().InformerFor(&corev1.ConfigMap{}, on(server, &corev1.ConfigMap{}))
	gone := make(chan cache.DeletedFinalStateUnknown, 1)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) { gone <- obj.(cache.DeletedFinalStateUnknown) },
	})
	must.Do(t, err)
	start(t, f)
	server.Set()
	fakeapi.Expire(server.NextWatch())
	if got := (<-gone).Obj.(*corev1.ConfigMap); got.Kind != "ConfigMap" || got.APIVersion != "v1" {
		t.Errorf("the tombstone's object is a %s of %s", got.Kind, got.APIVersion)
	}
}

// on makes informers of an object's type that are not the factory's own.
func on(lw cache.ListerWatcher, obj runtime.Object,
) func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
	return func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return informer.New(lw, obj, cache.SharedIndexInformerOptions{})
	}
}

// Every type that client-go has gets the kind that it has in the scheme.
func TestKindsOfAllTypes(t *testing.T) {
	for resource, kind := range kinds() {
		source, err := New(nowhere(t), Options{}).source(resource)
		if err != nil {
			continue // there is no list of them
		}
		obj, err := setKind(source.kind)(source.example)
		must.Do(t, err)
		got := obj.(runtime.Object).GetObjectKind().GroupVersionKind()
		expect.That(t, got == kind, "%s: got %s, want %s", name(resource), got, kind)
	}
}

// The obvious way makes a string for each object, and the object keeps it.
func TestSetGroupVersionKindAllocatesAndSetKindDoesNot(t *testing.T) {
	deployment, kind := &appsv1.Deployment{}, kinds()[Deployments]
	n := testing.AllocsPerRun(100, func() { deployment.SetGroupVersionKind(kind) })
	expect.That(t, n == 1, "SetGroupVersionKind: %v allocations, want 1", n)
	set := setKind(kind)
	n = testing.AllocsPerRun(100, func() { set(deployment) })
	expect.That(t, n == 0, "setKind: %v allocations, want none", n)
}

// To write the kind into one object.
func BenchmarkSetKind(b *testing.B) {
	set := setKind(schema.GroupVersionKind{Group: "", Version: "v1", Kind: "ConfigMap"})
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	b.ReportAllocs()
	for b.Loop() {
		set(obj)
	}
}

// To cache a list of 10,000, with kinds and without; per object.
func BenchmarkList(b *testing.B) {
	const n = 10_000
	for _, kinds := range []bool{false, true} {
		b.Run(fmt.Sprintf("kinds=%t", kinds), func(b *testing.B) {
			objs := make([]runtime.Object, n)
			for i := range objs {
				objs[i] = &corev1.ConfigMap{ObjectMeta: configMap(fmt.Sprintf("object-%05d", i)).ObjectMeta}
			}
			client := nowhere(b)
			b.ReportAllocs()
			for b.Loop() {
				f := New(client, Options{Kinds: kinds})
				f.ClientGo().InformerFor(&corev1.ConfigMap{}, on(fakeapi.New(objs...), &corev1.ConfigMap{}))
				f.Start(b.Context())
				must.Do(b, f.WaitForCacheSync(b.Context()))
				f.Shutdown()
			}
			perObject := b.Elapsed().Seconds() * 1e9 / float64(b.N) / n
			b.ReportMetric(perObject, "ns/object")
		})
	}
}
