package indexer_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// A store gets the index functions that its readers need, by name.
func Example() {
	index := indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{
		indexer.Namespace: indexer.ByNamespace,
		"app":             indexer.ByLabel("app"),
	})
	for i, app := range []string{"shop", "web", "shop", ""} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: fmt.Sprintf("pod%d", i+1),
			Labels: map[string]string{"app": app}}}
		if err := index.Add(pod); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(index.IndexKeys("app", "shop"))
	fmt.Println(index.IndexKeys(indexer.Namespace, "ns1"))
	// Output:
	// [ns1/pod1 ns1/pod3] <nil>
	// [ns1/pod1 ns1/pod2 ns1/pod3 ns1/pod4] <nil>
}

// An object may be under many values, or under none.
func ExampleByImage() {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Image: "busybox:1.38"}},
		Containers:     []corev1.Container{{Image: "nginx:1.29"}, {Image: "envoy:1.38"}, {Image: "nginx:1.29"}},
	}}
	fmt.Println(indexer.ByImage(pod))
	fmt.Println(indexer.ByImage(&corev1.ConfigMap{}))
	fmt.Println(indexer.ByImage("nginx:1.29"))
	// A handler of deletions may ask with the tombstone that it got.
	fmt.Println(indexer.ByImage(cache.DeletedFinalStateUnknown{Key: "ns1/web-1", Obj: pod}))
	// Output:
	// [busybox:1.38 envoy:1.38 nginx:1.29] <nil>
	// [] <nil>
	// [] want a Kubernetes object, got string
	// [busybox:1.38 envoy:1.38 nginx:1.29] <nil>
}
