// The truth: what the server has.

package ground

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/faults/judge"
)

// List asks the server for all that there is of a resource.
func (g *Ground) List(ctx context.Context, resource string) ([]judge.Object, error) {
	var all []judge.Object
	switch resource {
	case "configmaps":
		list, err := g.Client.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("the truth about %s: %w", resource, err)
		}
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	case "pods":
		list, err := g.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("the truth about %s: %w", resource, err)
		}
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	default:
		return nil, fmt.Errorf("%s are not watched here", resource)
	}
	return all, nil
}
