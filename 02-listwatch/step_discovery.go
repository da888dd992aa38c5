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

// stepDiscovery asks the server for all its resources, each in the version that the server prefers,
// as kubectl api-resources does.
func stepDiscovery(ctx context.Context, env *step.Env) error {
	client, err := discovery.NewDiscoveryClientForConfig(env.Config)
	if err != nil {
		return err
	}
	lists, err := client.ServerPreferredResourcesWithContext(ctx)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return err // the other error means: some groups did not answer, and these are the rest
	}
	slices.SortFunc(lists, func(a, b *metav1.APIResourceList) int {
		return cmp.Compare(a.GroupVersion, b.GroupVersion)
	})

	table := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND")
	for _, list := range lists {
		if strings.Contains(list.GroupVersion, ".") {
			continue // there are many such groups, and every cluster has others
		}
		slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int { return cmp.Compare(a.Name, b.Name) })
		for _, r := range list.APIResources {
			fmt.Fprintf(table, "%s\t%s\t%s\t%t\t%s\n",
				r.Name, strings.Join(r.ShortNames, ","), list.GroupVersion, r.Namespaced, r.Kind)
		}
	}
	return table.Flush()
}
