package indexer_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/must"
)

var functions = cache.Indexers{
	indexer.Namespace: indexer.ByNamespace,
	"app":             indexer.ByLabel("app"),
	indexer.Image:     indexer.ByImage,
}

// full returns a pod with a namespace, labels, and containers of all three kinds.
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

// untyped returns an object as an Unstructured, with a kind.
func untyped(t *testing.T, obj runtime.Object, apiVersion, kind string) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	must.NoError(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return u
}

// values are the values of an object in each index, by the name of the index.
type values map[string][]string

// A store asks for the values of the old object and of the new one, and then compares them. So the
// values of an object stay the same when a function is called again.
func TestValues(t *testing.T) {
	other := full()
	other.Namespace, other.Labels["app"], other.Spec.Containers[0].Image = "ns2", "l2", "d"
	all := values{"namespace": {"ns1"}, "app": {"l1"}, "image": {"a", "b", "c"}}
	for _, test := range []struct {
		name string
		obj  any
		want values
	}{
		{name: "a pod", obj: full(), want: all},
		{name: "an untyped pod", obj: untyped(t, full(), "v1", "Pod"), want: all},
		{name: "a tombstone", obj: cache.DeletedFinalStateUnknown{Key: "ns1/pod1", Obj: full()}, want: all},
		{name: "a pod that has nothing", obj: &corev1.Pod{}},
		{name: "an untyped pod that has nothing", obj: untyped(t, &corev1.Pod{}, "v1", "Pod")},
		{name: "an untyped object that is empty", obj: &unstructured.Unstructured{}},
		{name: "a cluster-wide object", obj: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}},
		{
			name: "an object without images",
			obj:  &corev1.ConfigMap{ObjectMeta: full().ObjectMeta},
			want: values{"namespace": {"ns1"}, "app": {"l1"}},
		},
		{
			name: "only metadata, as client-go's listers use it",
			obj:  &metav1.ObjectMeta{Namespace: "ns1"},
			want: values{"namespace": {"ns1"}},
		},
		{
			name: "a custom resource that only looks like a pod",
			obj: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Pod",
				"spec": map[string]any{"nodeName": int64(5), "containers": "many"},
			}},
		},
		{
			name: "a pod that has another label",
			obj:  &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"tier": "web"}}},
		},
		{
			name: "a label with an empty value",
			obj:  &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": ""}}},
			want: values{"app": {""}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, function := range functions {
				got, err := function(test.obj)
				if err != nil {
					t.Errorf("the function of index %s returns the error %v, want nil", name, err)
				}
				want := test.want[name]
				if !slices.Equal(got, want) {
					t.Errorf("the values of index %s are %q, want %q", name, got, want)
					continue
				}
				_, err = function(other)
				must.NoError(t, err)
				if !slices.Equal(got, want) {
					t.Errorf("the values of index %s are %q after a call with another object, want %q as before",
						name, got, want)
				}
			}
		})
	}
}

func TestWhatIsNoObjectIsAnErrorAndNoPanic(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns1/pod1", Obj: full()}
	for _, test := range []struct {
		name string
		obj  any
		want string // a part of the error
	}{
		{"nil", nil, "got <nil>"},
		{"a string", "ns1/pod1", "got string"},
		{"a pod that is not a pointer", *full(), "got v1.Pod"},
		{"a list", &corev1.PodList{}, "got *v1.PodList"},
		{"a nil pod", (*corev1.Pod)(nil), "got a nil *v1.Pod"},
		{"a nil untyped object", (*unstructured.Unstructured)(nil), "got a nil *unstructured.Unstructured"},
		{"an empty tombstone", cache.DeletedFinalStateUnknown{Key: "ns1/pod1"},
			`the tombstone of "ns1/pod1" holds no object`},
		{"a tombstone of a nil pod", cache.DeletedFinalStateUnknown{Obj: (*corev1.Pod)(nil)}, "got a nil *v1.Pod"},
		{"a tombstone of no object", cache.DeletedFinalStateUnknown{Obj: 1}, "got int"},
		{"a tombstone in a tombstone", cache.DeletedFinalStateUnknown{Obj: tombstone},
			"got cache.DeletedFinalStateUnknown"},
		{"a pointer to a tombstone", &tombstone, "got *cache.DeletedFinalStateUnknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, function := range functions {
				got, err := function(test.obj)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("the function of index %s returns the error %v, want one with %q", name, err, test.want)
				}
				if got != nil {
					t.Errorf("the function of index %s returns %q and an error, want no values", name, got)
				}
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
	_, err := indexer.ByImage(broken)
	if err == nil || !strings.Contains(err.Error(), "pod ns1/pod1") {
		t.Errorf("ByImage() returns the error %v, want one with %q", err, "pod ns1/pod1")
	}
}

func TestObjectsAreNotChanged(t *testing.T) {
	pod, want := full(), full()
	for name, function := range functions {
		_, err := function(pod)
		must.NoError(t, err)
		if diff := cmp.Diff(want, pod); diff != "" {
			t.Errorf("the function of index %s changed the pod (-want +got):\n%s", name, diff)
		}
	}
}

// After any write, an index finds the same objects as a search through all objects: with our store,
// and with client-go's.
func TestAnIndexFindsWhatAFilterFinds(t *testing.T) {
	for name, index := range map[string]cache.Indexer{
		"ours":      indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, functions),
		"client-go": cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, functions),
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
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
				must.NoError(t, err)
				for name := range functions {
					compareWithSearch(t, index, name)
				}
			}
		})
	}
}

// compareWithSearch compares an index with a search through all objects of the store.
func compareWithSearch(t *testing.T, index cache.Indexer, name string) {
	t.Helper()
	want := map[string][]string{}
	for _, obj := range index.List() {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		values, err := functions[name](obj)
		must.NoError(t, err)
		for _, value := range values {
			want[value] = append(want[value], key)
		}
	}
	got := map[string][]string{}
	for _, value := range index.ListIndexFuncValues(name) {
		keys, err := index.IndexKeys(name, value)
		must.NoError(t, err)
		got[value] = keys
	}
	for _, keys := range want {
		slices.Sort(keys)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("keys by value in the index %s (-want +got):\n%s", name, diff)
	}
}

// randomPod returns one of a few pods, with one of a few values in each index. So writes often
// change the same pod, and values often have several pods.
func randomPod(random *rand.Rand) *corev1.Pod {
	randomName := func(prefix string) string { return prefix + strconv.Itoa(random.IntN(4)) }
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: randomName("ns"), Name: randomName("pod"),
		Labels: map[string]string{}}}
	if random.IntN(3) > 0 {
		pod.Labels["app"] = randomName("l")
	}
	for range random.IntN(3) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Image: randomName("image")})
	}
	return pod
}
