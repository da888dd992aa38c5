// Which resources the server has, and which of them to watch.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// The reasons to leave a resource out.
const (
	partOfOthers = "a part of others"
	notWatchable = "cannot be listed and watched"
	olderVersion = "there is a newer version"
	anotherName  = "another name for events"
	notAskedFor  = "not without -secrets"
	byOthers     = "others define them, and remove them while we look"
)

// discover returns what is to be watched, by its kind, and what is left out,
// by the reason.
func discover(ctx context.Context,
	client discovery.DiscoveryInterfaceWithContext) (wanted map[schema.GroupVersionResource]schema.GroupVersionKind,
	leftOut map[string][]string, err error) {
	preferred, err := client.ServerPreferredResourcesWithContext(ctx)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // a custom one may be gone again
		return nil, nil, fmt.Errorf("asking the server for its resources: %w", err)
	}
	newest := map[schema.GroupVersionResource]bool{}
	for version, r := range each(preferred) {
		newest[version.WithResource(r.Name)] = true
	}
	_, all, err := client.ServerGroupsAndResourcesWithContext(ctx)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, nil, fmt.Errorf("asking the server for all versions of its resources: %w", err)
	}
	wanted, leftOut = map[schema.GroupVersionResource]schema.GroupVersionKind{}, map[string][]string{}
	for version, r := range each(all) {
		resource := version.WithResource(r.Name)
		if reason := whyNot(resource, r.Verbs, newest[resource]); reason != "" {
			leftOut[reason] = append(leftOut[reason], r.Name)
		} else {
			wanted[resource] = version.WithKind(r.Kind)
		}
	}
	return wanted, leftOut, nil
}

// each gives all resources of discovery's lists, with their group and version.
func each(lists []*metav1.APIResourceList) func(yield func(schema.GroupVersion, metav1.APIResource) bool) {
	return func(yield func(schema.GroupVersion, metav1.APIResource) bool) {
		for _, list := range lists {
			version, _ := schema.ParseGroupVersion(list.GroupVersion) // as the server says
			for _, r := range list.APIResources {
				if !yield(version, r) {
					return
				}
			}
		}
	}
}

// whyNot is the reason to leave a resource out; empty if there is none.
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
