// The objects that the steps put into stores, and how stores are printed.

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// newPod returns a pod with the label app and a container for each image.
func newPod(namespace, name, app string, images ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace,
		Name:      name,
		Labels:    map[string]string{"app": app},
	}}
	for i, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i+1), Image: image})
	}
	return pod
}

// newIndexer returns a store with indexes that holds the pods.
func newIndexer(indexers cache.Indexers, pods ...*corev1.Pod) (cache.Indexer, error) {
	index := cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers)
	for _, pod := range pods {
		if err := index.Add(pod); err != nil {
			return nil, err
		}
	}
	return index, nil
}

// getPod returns the pod with that key, which is in the store.
func getPod(store cache.Store, key string) (*corev1.Pod, error) {
	obj, exists, err := store.GetByKey(key)
	if err != nil {
		return nil, err
	}
	pod, ok := obj.(*corev1.Pod)
	if !exists || !ok {
		return nil, fmt.Errorf("want the pod %s in the store, got %T (there: %t)", key, obj, exists)
	}
	return pod, nil
}

// showKeys prints the keys of objects, sorted: a store has no order.
func showKeys(out io.Writer, title string, keys []string) {
	slices.Sort(keys)
	text := strings.Join(keys, ", ")
	if text == "" {
		text = "nothing"
	}
	fmt.Fprintf(out, "%s : %s\n", title, text)
}

// showIndex prints an index: all of its values, and what is under each.
func showIndex(out io.Writer, index cache.Indexer, name string) error {
	for _, value := range slices.Sorted(slices.Values(index.ListIndexFuncValues(name))) {
		keys, err := index.IndexKeys(name, value)
		if err != nil {
			return err
		}
		showKeys(out, name+" "+value, keys)
	}
	return nil
}
