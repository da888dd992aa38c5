package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/step"
)

// stepTombstone cuts the WatchDog off from the server while an object is
// deleted. The next list lacks it, and OnDelete gets a tombstone. For each object
// that is in the list, OnUpdate is called once more.
func stepTombstone(ctx context.Context, l *step.Lesson) error {
	client, err := l.ClientOnCable(ctx) // a client that can lose its server
	if err != nil {
		return err
	}
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", l.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")), // which every namespace has
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { fmt.Fprintln(l.Out, "OnAdd :", obj.(*corev1.ConfigMap).Name) },
			UpdateFunc: func(_, newObj any) { fmt.Fprintln(l.Out, "OnUpdate :", newObj.(*corev1.ConfigMap).Name) },
			DeleteFunc: func(obj any) {
				what := "OnDelete :"
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj, what = tombstone.Obj, "OnDelete : a tombstone :"
				}
				if configMap, ok := obj.(*corev1.ConfigMap); ok { // a tombstone may be empty, and have a Key alone
					fmt.Fprintln(l.Out, what, configMap.Name)
				}
			},
		},
	})
	if err != nil {
		return err
	}
	return dog.Run(ctx) // nil, when the context ends
}
