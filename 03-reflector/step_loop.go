package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/scripts/harness/step"
)

// stepLoop runs our own reflector, with an observer that prints each of its decisions. The first
// watch brings the list. The step asks the server to end this watch after five seconds, not after
// minutes. The number of bookmarks in this time is not always the same, so the step does not print
// them.
func stepLoop(ctx context.Context, l *step.Lesson) error {
	reached := "" // the version that the reflector has reached
	configMaps := cache.NewFilteredListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		func(options *metav1.ListOptions) {
			options.FieldSelector = "metadata.name!=kube-root-ca.crt" // which every namespace has
			if reached == "" {
				options.TimeoutSeconds = new(int64(5))
			}
		})
	version := func(v string) string {
		switch v {
		case "":
			return "the newest version"
		case reached:
			return "the version that was reached"
		}
		return v
	}
	decisions := func(e observer.Event) {
		switch e.Kind {
		case observer.Listing, observer.Watching:
			fmt.Fprintf(l.Out, "%s : from %s\n", e.Kind, version(e.Version))
		case observer.Listed:
			fmt.Fprintf(l.Out, "listed : %d objects\n", e.Count)
			reached = e.Version
		case observer.Received:
			fmt.Fprintf(l.Out, "event : %s : %s\n", e.Type, e.New.(*corev1.ConfigMap).Name)
			reached = e.Version
		case observer.Bookmark:
			reached = e.Version
		case observer.Ended:
			fmt.Fprintf(l.Out, "ended : error: %v\n", e.Err)
		}
	}
	reflector.New(reflector.Options{
		ListerWatcher: configMaps,
		Store:         cache.NewStore(cache.MetaNamespaceKeyFunc),
		ExpectedType:  &corev1.ConfigMap{},
		Observer:      observer.Func(decisions),
	}).Run(ctx)
	return nil
}
