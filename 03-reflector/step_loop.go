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
func stepLoop(ctx context.Context, env *step.Env) error {
	reached := "" // the version that the reflector has reached
	configMaps := cache.NewFilteredListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
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
	decisions := func(event any) {
		switch e := event.(type) {
		case observer.Listing:
			fmt.Fprintf(env.Out, "listing : from %s\n", version(e.Version))
		case observer.Watching:
			fmt.Fprintf(env.Out, "watching : from %s\n", version(e.Version))
		case observer.Listed:
			fmt.Fprintf(env.Out, "listed : %d objects\n", e.Objects)
			reached = e.Version
		case observer.Received:
			fmt.Fprintf(env.Out, "event : %s : %s\n", e.Type, e.Object.(*corev1.ConfigMap).Name)
			reached = e.Version
		case observer.Bookmark:
			reached = e.Version
		case observer.Ended:
			fmt.Fprintf(env.Out, "ended : error: %v\n", e.Err)
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
