package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepIndex has an index of pods by their label app. The index changes before the handler is
// called.
func stepIndex(ctx context.Context, l *step.Lesson) error {
	listWatch := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "pods", l.Namespace, fields.Everything())
	pods := informer.New(listWatch, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")}, // of chapter 04
	})
	show := func() {
		index, text := pods.GetIndexer(), "by app :"
		for _, app := range slices.Sorted(slices.Values(index.ListIndexFuncValues("app"))) {
			found, _ := index.ByIndex("app", app) // no error: the index exists
			var names []string
			for _, obj := range found {
				names = append(names, obj.(*corev1.Pod).Name)
			}
			slices.Sort(names)
			text += fmt.Sprint(" ", app, " ", names)
		}
		fmt.Fprintln(l.Out, text)
	}
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { show() },
		UpdateFunc: func(oldObj, newObj any) {
			if oldObj.(*corev1.Pod).Labels["app"] != newObj.(*corev1.Pod).Labels["app"] {
				show()
			}
		},
		DeleteFunc: func(any) { show() },
	})
	if err != nil {
		return err
	}
	pods.RunWithContext(ctx)
	return nil
}
