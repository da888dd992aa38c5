package factory

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A handler sees the kind of an object of the list, of an object of the watch, and of the last
// state of a deleted object.
func TestKinds(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    string // APIVersion/Kind
	}{
		{options: Options{}, want: "/"},
		{options: Options{Kinds: true}, want: "v1/ConfigMap"},
	} {
		server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: configMapsNamed("a")})
		f := New(client, test.options)
		var calls []string
		ended := make(chan struct{})
		note := func(call string, obj any) {
			typed := obj.(*corev1.ConfigMap)
			calls = append(calls, fmt.Sprintf("%s %s %s/%s", call, typed.Name, typed.APIVersion, typed.Kind))
		}
		_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { note("add", obj) },
			UpdateFunc: func(oldObj, newObj any) {
				note("update from", oldObj)
				note("to", newObj)
			},
			DeleteFunc: func(obj any) {
				note("delete", obj)
				close(ended)
			},
		})
		must.NoError(t, err)
		start(t, f)
		for _, eventType := range []string{"MODIFIED", "DELETED"} {
			obj := configMap("a")
			obj.ResourceVersion = "1000001"
			server.Events <- fakeapi.Event{Type: eventType, Object: obj}
		}
		<-ended
		f.Shutdown()
		want := []string{
			"add a " + test.want,
			"update from a " + test.want,
			"to a " + test.want,
			"delete a " + test.want,
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("Kinds %t: the handler was called with (-want +got):\n%s", test.options.Kinds, diff)
		}
	}
}

func TestKindsOfATombstone(t *testing.T) {
	server := fakeapi.New(&corev1.ConfigMap{ObjectMeta: configMap("a").ObjectMeta})
	f := New(newClientWithoutServer(t), Options{Kinds: true})
	configMaps := f.ClientGo().InformerFor(&corev1.ConfigMap{}, newInformerFunc(server, &corev1.ConfigMap{}))
	gone := make(chan cache.DeletedFinalStateUnknown, 1)
	_, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) { gone <- obj.(cache.DeletedFinalStateUnknown) },
	})
	must.NoError(t, err)
	start(t, f)
	server.Set()
	fakeapi.Expire(server.NextWatch())
	got := (<-gone).Obj.(*corev1.ConfigMap).TypeMeta
	if want := (metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}); got != want {
		t.Errorf("the type of the tombstone's object is %+v, want %+v", got, want)
	}
}

// newInformerFunc returns a function for InformerFor. It makes an informer of obj's type on lw.
func newInformerFunc(lw cache.ListerWatcher, obj runtime.Object,
) func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
	return func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return informer.New(lw, obj, cache.SharedIndexInformerOptions{})
	}
}

// Each type of client-go gets the kind that the type has in the scheme.
func TestKindsOfAllTypes(t *testing.T) {
	for resource, kind := range kinds() {
		source, err := newSource(newClientWithoutServer(t), &Options{}, resource)
		if err != nil {
			continue // the clientset cannot list this resource
		}
		obj, err := setKind(source.kind)(source.example)
		must.NoError(t, err)
		got := obj.(runtime.Object).GetObjectKind().GroupVersionKind()
		if got != kind {
			t.Errorf("%s: setKind writes %s, want %s", name(resource), got, kind)
		}
	}
}

// A transform may return a value that has no kind.
func TestKindsOfSomethingElse(t *testing.T) {
	const value = "the result of a transform"
	if obj, err := setKind(kinds()[Pods])(value); obj != value || err != nil {
		t.Errorf("setKind()(%q) = %v, %v; want the same value, nil", value, obj, err)
	}
}

// The method SetGroupVersionKind makes a new string for each object, which stays in memory with the
// object.
func TestSetGroupVersionKindAllocatesAndSetKindDoesNot(t *testing.T) {
	deployment, kind := &appsv1.Deployment{}, kinds()[Deployments]
	if n := testing.AllocsPerRun(100, func() { deployment.SetGroupVersionKind(kind) }); n != 1 {
		t.Errorf("SetGroupVersionKind: %v allocations, want 1", n)
	}
	set := setKind(kind)
	if n := testing.AllocsPerRun(100, func() { set(deployment) }); n != 0 {
		t.Errorf("setKind: %v allocations, want 0", n)
	}
}

// BenchmarkSetKind writes the kind into one object.
func BenchmarkSetKind(b *testing.B) {
	set := setKind(schema.GroupVersionKind{Group: "", Version: "v1", Kind: "ConfigMap"})
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	b.ReportAllocs()
	for b.Loop() {
		set(obj)
	}
}

// BenchmarkList caches a list of 10,000 objects, with the option Kinds and without. It reports the
// time for one object.
func BenchmarkList(b *testing.B) {
	const n = 10_000
	for _, kinds := range []bool{false, true} {
		b.Run(fmt.Sprintf("kinds=%t", kinds), func(b *testing.B) {
			objs := make([]runtime.Object, n)
			for i := range objs {
				objs[i] = &corev1.ConfigMap{ObjectMeta: configMap(fmt.Sprintf("object-%05d", i)).ObjectMeta}
			}
			client := newClientWithoutServer(b)
			b.ReportAllocs()
			for b.Loop() {
				f := New(client, Options{Kinds: kinds})
				newFunc := newInformerFunc(fakeapi.New(objs...), &corev1.ConfigMap{})
				f.ClientGo().InformerFor(&corev1.ConfigMap{}, newFunc)
				f.Start(b.Context())
				must.NoError(b, f.WaitForCacheSync(b.Context()))
				f.Shutdown()
			}
			perObject := b.Elapsed().Seconds() * 1e9 / float64(b.N) / n
			b.ReportMetric(perObject, "ns/object")
		})
	}
}
