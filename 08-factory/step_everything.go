package main

import (
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/usage"
)

// stepEverything asks the server which types it has, and caches them all.
func stepEverything(ctx context.Context, l *step.Lesson) error {
	config := rest.CopyConfig(l.Config)
	config.WarningHandler = rest.NoWarnings{} // some types should not be used any more
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	wanted, leftOut, err := discover(ctx, client.Discovery())
	if err != nil {
		return err
	}
	f := factory.New(client, factory.Options{Dynamic: dynamicClient})
	defer f.Shutdown()
	var untyped []string
	for resource, kind := range wanted {
		if _, err := f.ForResource(resource); err != nil {
			return err
		}
		if !scheme.Scheme.Recognizes(kind) {
			untyped = append(untyped, resource.Resource)
		}
	}
	slices.Sort(untyped)

	l.Requests.Reset()
	before := usage.Heap()
	pprof.Do(ctx, pprof.Labels("step", l.Namespace), f.Start) // goroutines inherit the label
	patience, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := f.WaitForCacheSync(patience); err != nil {
		return err // it names the types that have not synced
	}
	n := len(wanted)
	fmt.Fprintf(l.Out, "informers : more than 40: %t, and all have synced\n", n > 40)
	fmt.Fprintln(l.Out, "of objects without a Go type :", strings.Join(untyped, " "))
	fmt.Fprintln(l.Out, "lists : one for each:", l.Requests.Lists() == n)
	fmt.Fprintln(l.Out, "goroutines : fewer than ten for each:", usage.Goroutines("step", l.Namespace) < 10*n)
	fmt.Fprintln(l.Out, "memory : less than a megabyte for each:", usage.Heap()-before < n<<20)
	for _, reason := range []string{notWatchable, olderVersion, anotherName, notAskedFor} {
		slices.Sort(leftOut[reason])
		fmt.Fprintf(l.Out, "left out, %s : %s\n", reason, strings.Join(leftOut[reason], " "))
	}
	fmt.Fprintf(l.Out, "left out, %s : pods/log: %t, and more\n",
		partOfOthers, slices.Contains(leftOut[partOfOthers], "pods/log"))
	fmt.Fprintf(l.Out, "left out, %s : custom resources\n", byOthers)
	return nil
}

// The reasons to leave a type out.
const (
	partOfOthers = "a part of others"
	notWatchable = "cannot be listed and watched"
	olderVersion = "there is a newer version"
	anotherName  = "another name for events"
	notAskedFor  = "not without -secrets"
	byOthers     = "others define them, and remove them while we look"
)

// discover returns the types to watch, and the names of those that are left
// out, by the reason.
func discover(ctx context.Context, client discovery.DiscoveryInterface) (
	wanted map[schema.GroupVersionResource]schema.GroupVersionKind, leftOut map[string][]string, err error,
) {
	server := discovery.ToDiscoveryInterfaceWithContext(client)
	preferred, err := server.ServerPreferredResourcesWithContext(ctx)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // a custom one may be gone again
		return nil, nil, fmt.Errorf("asking the server for its types: %w", err)
	}
	newest, err := discovery.GroupVersionResources(preferred)
	if err != nil {
		return nil, nil, err
	}
	_, all, err := server.ServerGroupsAndResourcesWithContext(ctx)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, nil, fmt.Errorf("asking the server for all versions of its types: %w", err)
	}
	wanted, leftOut = map[schema.GroupVersionResource]schema.GroupVersionKind{}, map[string][]string{}
	for _, list := range all {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range list.APIResources {
			resource := version.WithResource(r.Name)
			_, isNewest := newest[resource]
			if reason := whyNot(resource, r.Verbs, isNewest); reason != "" {
				leftOut[reason] = append(leftOut[reason], r.Name)
			} else {
				wanted[resource] = version.WithKind(r.Kind)
			}
		}
	}
	return wanted, leftOut, nil
}

// whyNot is the reason to leave a type out, or nothing.
func whyNot(resource schema.GroupVersionResource, verbs metav1.Verbs, newest bool) string {
	switch {
	case strings.Contains(resource.Resource, "/"):
		return partOfOthers
	case strings.Contains(resource.Group, ".") && !strings.HasSuffix(resource.Group, ".k8s.io"):
		return byOthers
	case !slices.Contains(verbs, "list") || !slices.Contains(verbs, "watch"):
		return notWatchable
	case !newest:
		return olderVersion
	case resource.Resource == "events" && resource.Group != "":
		return anotherName
	case resource.Resource == "secrets" && !secrets:
		return notAskedFor
	}
	return ""
}
