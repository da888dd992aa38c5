package indexer_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// functions are all that the package has.
var functions = cache.Indexers{
	indexer.Namespace: indexer.ByNamespace,
	"app":             indexer.ByLabel("app"),
	indexer.Image:     indexer.ByImage,
}

// full returns a pod that lacks nothing.
func full() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns1",
			Name:      "pod1",
			Labels:    map[string]string{"app": "l1", "tier": "web"},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Image: "b"}},
			Containers:     []corev1.Container{{Image: "a"}, {Image: "b"}},
			EphemeralContainers: []corev1.EphemeralContainer{
				{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Image: "c"}},
			},
		},
	}
}

// untyped returns the object as a map, with a kind.
func untyped(t *testing.T, obj runtime.Object, apiVersion, kind string) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	must.Do(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return u
}

func TestValues(t *testing.T) {
	all := map[string]string{"namespace": "ns1", "app": "l1", "image": "a b c"}
	none := map[string]string{}
	for _, test := range []struct {
		name string
		obj  any
		want map[string]string // the values of each index, joined
	}{
		{"a pod", full(), all},
		{"an untyped pod", untyped(t, full(), "v1", "Pod"), all},
		{"a tombstone", cache.DeletedFinalStateUnknown{Key: "ns1/pod1", Obj: full()}, all},
		{"a pod that has nothing", &corev1.Pod{}, none},
		{"an untyped pod that has nothing", untyped(t, &corev1.Pod{}, "v1", "Pod"), none},
		{"an untyped object that is empty", &unstructured.Unstructured{}, none},
		{"a cluster-wide object", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}, none},
		{"an object without images", &corev1.ConfigMap{ObjectMeta: full().ObjectMeta},
			map[string]string{"namespace": "ns1", "app": "l1"}},
		{"metadata alone, as listers ask with", &metav1.ObjectMeta{Namespace: "ns1"},
			map[string]string{"namespace": "ns1"}},
		{"a custom resource that only looks like a pod", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Pod",
			"spec": map[string]any{"nodeName": int64(5), "containers": "many"},
		}}, none},
		{"a label with an empty value",
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": ""}}},
			map[string]string{"app": `""`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, values := range functions {
				got, err := values(test.obj)
				expect.That(t, err == nil, "%s: %v", name, err)
				if join(got) != test.want[name] {
					t.Errorf("the index %s: got the values %q, want %s", name, got, cmp.Or(test.want[name], "none"))
				}
			}
		})
	}
}

// join makes a text of values in which an empty one can be seen.
func join(values []string) string {
	if slices.Equal(values, []string{""}) {
		return `""`
	}
	return strings.Join(values, " ")
}

func TestWhatIsNoObjectIsAnErrorAndNoPanic(t *testing.T) {
	gone := cache.DeletedFinalStateUnknown{Key: "ns1/pod1", Obj: full()}
	for _, test := range []struct {
		name string
		obj  any
		want string
	}{
		{"nil", nil, "got <nil>"},
		{"a string", "ns1/pod1", "got string"},
		{"a pod that is no pointer", *full(), "got v1.Pod"},
		{"a list", &corev1.PodList{}, "got *v1.PodList"},
		{"a nil pod", (*corev1.Pod)(nil), "got a nil *v1.Pod"},
		{"a nil untyped object", (*unstructured.Unstructured)(nil), "got a nil *unstructured.Unstructured"},
		{"an empty tombstone", cache.DeletedFinalStateUnknown{Key: "ns1/pod1"},
			`the tombstone of "ns1/pod1" holds no object`},
		{"a tombstone of a nil pod", cache.DeletedFinalStateUnknown{Obj: (*corev1.Pod)(nil)}, "got a nil *v1.Pod"},
		{"a tombstone of no object", cache.DeletedFinalStateUnknown{Obj: 1}, "got int"},
		{"a tombstone in a tombstone", cache.DeletedFinalStateUnknown{Obj: gone}, "got cache.DeletedFinalStateUnknown"},
		{"a pointer to a tombstone", &gone, "got *cache.DeletedFinalStateUnknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, values := range functions {
				got, err := values(test.obj)
				expect.That(t, err != nil && strings.Contains(err.Error(), test.want),
					"%s: error %v, want one with %q", name, err, test.want)
				expect.That(t, got == nil, "%s: got %q beside the error", name, got)
			}
		})
	}
}

func TestAnUntypedPodThatNoServerCouldHaveSent(t *testing.T) {
	broken := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"namespace": "ns1", "name": "pod1"},
		"spec":     map[string]any{"nodeName": int64(5), "containers": "many"},
	}}
	if _, err := indexer.ByImage(broken); err == nil || !strings.Contains(err.Error(), "pod ns1/pod1") {
		t.Errorf("error %v, want one that names the pod", err)
	}
}

func TestObjectsAreNotChanged(t *testing.T) {
	pod, want := full(), full()
	for name, values := range functions {
		_, err := values(pod)
		must.Do(t, err)
		expect.That(t, pod.String() == want.String(), "%s changed the pod", name)
	}
}

// Whatever is done to a store, an index finds what a look at every object finds.
func TestAnIndexFindsWhatAFilterFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	index := cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, functions)
	for range 2000 {
		var err error
		switch pod := randomPod(random); random.IntN(10) {
		default:
			err = index.Update(pod)
		case 1, 2, 3:
			err = index.Delete(pod)
		case 4:
			key, _ := cache.MetaNamespaceKeyFunc(pod)
			err = index.Delete(cache.DeletedFinalStateUnknown{Key: key, Obj: pod})
		case 5:
			err = index.Replace([]any{pod, randomPod(random)}, "")
		}
		must.Do(t, err)
		for name := range functions {
			compare(t, index, name)
		}
	}
}

// compare holds one index against all objects of the store.
func compare(t *testing.T, index cache.Indexer, name string) {
	t.Helper()
	want := map[string][]string{}
	for _, obj := range index.List() {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		values, err := functions[name](obj)
		must.Do(t, err)
		for _, value := range values {
			want[value] = append(want[value], key)
		}
	}
	if got := index.ListIndexFuncValues(name); len(got) != len(want) {
		t.Fatalf("%s has the values %q, want %v", name, got, want)
	}
	for value, keys := range want {
		slices.Sort(keys)
		if got, err := index.IndexKeys(name, value); err != nil || !slices.Equal(got, keys) {
			t.Fatalf("%s %s: got %q (error: %v), want %q", name, value, got, err, keys)
		}
	}
}

// randomPod returns one of few pods, so that they meet, with few values.
func randomPod(random *rand.Rand) *corev1.Pod {
	some := func(prefix string) string { return prefix + strconv.Itoa(random.IntN(4)) }
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: some("ns"), Name: some("pod"),
		Labels: map[string]string{}}}
	if random.IntN(3) > 0 {
		pod.Labels["app"] = some("l")
	}
	for range random.IntN(3) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Image: some("image")})
	}
	return pod
}
