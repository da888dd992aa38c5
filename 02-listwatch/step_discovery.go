package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"example.com/informer/scripts/harness/step"
)

// stepDiscovery asks the server which resources it has, as kubectl api-resources
// does.
func stepDiscovery(ctx context.Context, l *step.Lesson) error {
	client, err := discovery.NewDiscoveryClientForConfig(l.Config)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(l.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND")
	for _, groupVersion := range []string{"v1", "apps/v1"} {
		list, err := client.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
		if err != nil {
			return err
		}
		slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int { return cmp.Compare(a.Name, b.Name) })
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue // a part of a resource, such as pods/log
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%t\t%s\n",
				r.Name, strings.Join(r.ShortNames, ","), list.GroupVersion, r.Namespaced, r.Kind)
		}
	}
	return table.Flush()
}
