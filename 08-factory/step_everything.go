package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepEverything asks the server for its types, and caches the objects of all types.
func stepEverything(ctx context.Context, env *step.Env) error {
	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	server := discovery.ToDiscoveryInterfaceWithContext(env.Client.Discovery())
	lists, err := server.ServerPreferredResourcesWithContext(ctx) // each type once, in the preferred version
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return err
	}
	f := factory.New(env.Client, factory.Options{Dynamic: client})
	defer f.Shutdown()
	types := map[string][]string{} // the names of types, by the words in front of them in the output
	for _, list := range lists {
		if strings.Contains(list.GroupVersion, ".") && !strings.Contains(list.GroupVersion, ".k8s.io/") {
			continue // custom resources: somebody may remove one while this step runs
		}
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			if reason := whyNot(version, r); reason != "" {
				types[reason] = append(types[reason], r.Name)
				continue
			}
			if _, err := f.ForResource(version.WithResource(r.Name)); err != nil {
				return err
			}
			cached := "cached, " + list.GroupVersion
			if !scheme.Scheme.Recognizes(version.WithKind(r.Kind)) {
				cached = "cached, without a Go type"
			}
			types[cached] = append(types[cached], r.Name)
		}
	}
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err // the error names the types that have not synced
	}
	for _, heading := range slices.Sorted(maps.Keys(types)) {
		if !strings.Contains(heading, ".") { // each cluster has other types in the groups with a dot
			fmt.Fprintln(env.Out, heading, ":", strings.Join(slices.Sorted(slices.Values(types[heading])), " "))
		}
	}
	return nil
}

// whyNot returns the reason why the step leaves out a type, or an empty string.
func whyNot(version schema.GroupVersion, r metav1.APIResource) string {
	switch {
	case !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "watch"):
		return "left out, cannot be listed and watched"
	case r.Name == "events" && version.Group != "":
		return "left out, another name for events"
	case r.Name == "secrets" && !secrets:
		return "left out, not without -secrets"
	}
	return ""
}
