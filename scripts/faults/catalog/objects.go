// Faults in what is on the server: too many objects, too large ones, clocks.

package catalog

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/faults/bout"
)

const many, doomed, large = "faults-many", "faults-doomed", "faults-large"

var objects = []bout.Fault{
	{
		Name: "many objects deleted in one call",
		Before: func(ctx context.Context, b *bout.Bout) error {
			return b.Ground.Fill(ctx, many, b.Scale.Many)
		},
		Do: func(ctx context.Context, b *bout.Bout) error {
			if err := b.Meanwhile(ctx); err != nil {
				return err
			}
			return b.Ground.Client.CoreV1().ConfigMaps(many).DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{})
		},
	},
	{
		Name: "a namespace deleted",
		Before: func(ctx context.Context, b *bout.Bout) error {
			return inTurn(
				func() error { return b.Ground.Plane.Restart(ctx, local.Controllers) }, // they empty it
				func() error { return b.Ground.Fill(ctx, doomed, b.Scale.Many/10) })
		},
		Do: func(ctx context.Context, b *bout.Bout) error {
			if err := b.Meanwhile(ctx); err != nil {
				return err
			}
			namespaces := b.Ground.Client.CoreV1().Namespaces()
			if err := namespaces.Delete(ctx, doomed, metav1.DeleteOptions{}); err != nil {
				return err
			}
			return bout.Until(ctx, b.Scale.Patience, "the namespace is gone", func() bool {
				_, err := namespaces.Get(ctx, doomed, metav1.GetOptions{})
				return apierrors.IsNotFound(err)
			})
		},
		After: func(_ context.Context, b *bout.Bout) error { return b.Ground.Kill(local.Controllers) },
	},
	{
		Name: "an object of 1 MiB",
		Do:   oneMebibyte, Noticed: rewatched,
		After: func(ctx context.Context, b *bout.Bout) error {
			return b.Ground.Client.CoreV1().ConfigMaps(large).Delete(ctx, "large", metav1.DeleteOptions{})
		},
	},
	{
		// Informers know versions, and no time: nothing must come of it.
		Name: "the clock of the writers jumps",
		Do: func(ctx context.Context, b *bout.Bout) error {
			for _, by := range []time.Duration{time.Hour, -48 * time.Hour, 365 * 24 * time.Hour} {
				b.Churn.Jump(by)
				if err := b.Hold(ctx, b.Scale.Hold/3); err != nil {
					return err
				}
				defer b.Churn.Jump(-by)
			}
			return nil
		},
	},
}

// oneMebibyte makes an object as large as objects can be and changes it, and
// breaks the connections each time.
func oneMebibyte(ctx context.Context, b *bout.Bout) error {
	if err := b.Ground.Namespace(ctx, large); err != nil {
		return err
	}
	if err := b.Meanwhile(ctx); err != nil {
		return err
	}
	configMaps := b.Ground.Client.CoreV1().ConfigMaps(large)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "large"}}
	for n, make := range []func(context.Context, *corev1.ConfigMap) (*corev1.ConfigMap, error){
		func(ctx context.Context, o *corev1.ConfigMap) (*corev1.ConfigMap, error) {
			return configMaps.Create(ctx, o, metav1.CreateOptions{})
		},
		func(ctx context.Context, o *corev1.ConfigMap) (*corev1.ConfigMap, error) {
			return configMaps.Update(ctx, o, metav1.UpdateOptions{})
		},
		func(ctx context.Context, o *corev1.ConfigMap) (*corev1.ConfigMap, error) {
			return configMaps.Update(ctx, o, metav1.UpdateOptions{})
		},
	} {
		object.Data = map[string]string{"data": strings.Repeat(fmt.Sprint(n), 1<<20)}
		var err error
		if object, err = make(ctx, object); err != nil {
			return err
		}
		each(b, func(s *bout.Subject) { s.TCP.Reset() })
	}
	return nil
}
