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

// stepEverything asks the server which types it has, and caches them all.
func stepEverything(ctx context.Context, l *step.Lesson) error {
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	server := discovery.ToDiscoveryInterfaceWithContext(l.Client.Discovery())
	lists, err := server.ServerPreferredResourcesWithContext(ctx) // each type once, in the preferred version
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return err
	}
	f := factory.New(l.Client, factory.Options{Dynamic: client})
	defer f.Shutdown()
	types := map[string][]string{} // by what became of them
	for _, list := range lists {
		if strings.Contains(list.GroupVersion, ".") && !strings.Contains(list.GroupVersion, ".k8s.io/") {
			continue // custom resources: others may remove theirs while we look
		}
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			became := whyNot(version, r)
			if became == "" {
				became = "cached, " + list.GroupVersion
				if !scheme.Scheme.Recognizes(version.WithKind(r.Kind)) {
					became = "cached, without a Go type"
				}
				if _, err := f.ForResource(version.WithResource(r.Name)); err != nil {
					return err
				}
			}
			types[became] = append(types[became], r.Name)
		}
	}
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err // it names the types that have not synced
	}
	for _, became := range slices.Sorted(maps.Keys(types)) {
		if !strings.Contains(became, ".") { // of groups with a dot, every cluster has others
			fmt.Fprintln(l.Out, became, ":", strings.Join(slices.Sorted(slices.Values(types[became])), " "))
		}
	}
	return nil
}

// whyNot is the reason to leave a type out, or nothing.
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
