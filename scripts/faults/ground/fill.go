// Filling a namespace with objects.

package ground

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hands is how many objects are made at the same time.
const hands = 16

// Fill makes n ConfigMaps in a namespace, which it makes first if need be.
func (g *Ground) Fill(ctx context.Context, namespace string, n int) error {
	if err := g.Namespace(ctx, namespace); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var making sync.WaitGroup
	for hand := range hands {
		making.Go(func() {
			for i := hand; i < n && ctx.Err() == nil; i += hands {
				name := fmt.Sprintf("one-of-many-%d", i)
				_, err := g.Client.CoreV1().ConfigMaps(namespace).Create(ctx,
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
				if err != nil {
					cancel(fmt.Errorf("making %s/%s: %w", namespace, name, err))
				}
			}
		})
	}
	making.Wait()
	return context.Cause(ctx)
}
