// Faults in what is on the server: too many objects, too large ones, clocks.

package catalog

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/faults/bout"
)

const many, doomed, large = "faults-many", "faults-doomed", "faults-large"

var objects = []bout.Fault{
	{
		Name:   "many objects deleted in one call",
		Before: steps{func(ctx context.Context, b *bout.Bout) error { return b.Ground.Fill(ctx, many, b.Scale.Many) }},
		Do: steps{bout.Meanwhile, func(ctx context.Context, b *bout.Bout) error {
			return b.Ground.Client.CoreV1().ConfigMaps(many).DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{})
		}},
	},
	{
		Name: "a namespace deleted",
		Before: steps{
			restart(local.Controllers), // they empty it
			func(ctx context.Context, b *bout.Bout) error { return b.Ground.Fill(ctx, doomed, b.Scale.Many/10) },
		},
		Do:    steps{bout.Meanwhile, deleteNamespace},
		After: steps{kill(local.Controllers)},
	},
	{
		Name:    "an object of 1 MiB",
		Do:      steps{bout.Meanwhile, oneMebibyte},
		Noticed: rewatched,
		After: steps{func(ctx context.Context, b *bout.Bout) error {
			return b.Ground.Client.CoreV1().ConfigMaps(large).Delete(ctx, "large", metav1.DeleteOptions{})
		}},
	},
	{
		// Informers know versions, and no time: nothing must come of it.
		Name: "the clock of the writers jumps",
		Do: steps{func(ctx context.Context, b *bout.Bout) error {
			for _, by := range []time.Duration{time.Hour, -48 * time.Hour, 365 * 24 * time.Hour} {
				b.Churn.Jump(by)
				if err := b.Hold(ctx, b.Scale.Hold/3); err != nil {
					return err
				}
				defer b.Churn.Jump(-by)
			}
			return nil
		}},
	},
}

func deleteNamespace(ctx context.Context, b *bout.Bout) error {
	namespaces := b.Ground.Client.CoreV1().Namespaces()
	if err := namespaces.Delete(ctx, doomed, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return b.Until(ctx, "the namespace is gone", func() bool {
		_, err := namespaces.Get(ctx, doomed, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// oneMebibyte makes an object as large as objects can be and changes it, twice,
// and breaks the connections each time.
func oneMebibyte(ctx context.Context, b *bout.Bout) error {
	if err := b.Ground.Namespace(ctx, large); err != nil {
		return err
	}
	configMaps := b.Ground.Client.CoreV1().ConfigMaps(large)
	for _, digit := range []string{"0", "1", "2"} {
		object := applycorev1.ConfigMap("large", large).
			WithData(map[string]string{"data": strings.Repeat(digit, 1<<20)})
		if _, err := configMaps.Apply(ctx, object, metav1.ApplyOptions{FieldManager: "faults"}); err != nil {
			return err
		}
		if err := reset(ctx, b); err != nil {
			return err
		}
	}
	return nil
}
