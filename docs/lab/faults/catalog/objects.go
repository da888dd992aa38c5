// Faults of the objects on the server: too many, too large, strange times.

package catalog

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"example.com/informer/docs/lab/faults/scenario"
	"example.com/informer/scripts/cluster/local"
)

// The namespaces of these faults.
const many, deleted, large = "faults-many", "faults-deleted", "faults-large"

var objects = []scenario.Fault{
	{
		Name: "many objects deleted in one call",
		Before: steps{func(ctx context.Context, s *scenario.Scenario) error {
			return s.Environment.Fill(ctx, many, s.Scale.Deletes)
		}},
		Do: steps{scenario.ChangeHandlers, func(ctx context.Context, s *scenario.Scenario) error {
			return s.Environment.Client.CoreV1().ConfigMaps(many).DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{})
		}},
	},
	{
		Name: "a namespace deleted",
		Before: steps{
			restart(local.ControllerManager), // they empty it
			func(ctx context.Context, s *scenario.Scenario) error {
				return s.Environment.Fill(ctx, deleted, s.Scale.Deletes/10)
			},
		},
		Do:    steps{scenario.ChangeHandlers, deleteNamespace},
		After: steps{kill(local.ControllerManager)},
	},
	{
		Name:    "an object of 1 MiB",
		Do:      steps{scenario.ChangeHandlers, writeLargeObject},
		Noticed: rewatched,
		After: steps{func(ctx context.Context, s *scenario.Scenario) error {
			return s.Environment.Client.CoreV1().ConfigMaps(large).Delete(ctx, "large", metav1.DeleteOptions{})
		}},
	},
	{
		// Informers look at versions, never at times: nothing may happen.
		Name: "the clock of the writers jumps",
		Do: steps{func(ctx context.Context, s *scenario.Scenario) error {
			for _, by := range []time.Duration{time.Hour, -48 * time.Hour, 365 * 24 * time.Hour} {
				s.Workload.SkewClock(by)
				if err := s.Hold(ctx, s.Scale.Hold/3); err != nil {
					return err
				}
				defer s.Workload.SkewClock(-by)
			}
			return nil
		}},
	},
}

func deleteNamespace(ctx context.Context, s *scenario.Scenario) error {
	namespaces := s.Environment.Client.CoreV1().Namespaces()
	if err := namespaces.Delete(ctx, deleted, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return s.Until(ctx, "the namespace is gone", func() bool {
		_, err := namespaces.Get(ctx, deleted, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// writeLargeObject creates an object of the greatest possible size, updates it
// twice, and resets the connections each time.
func writeLargeObject(ctx context.Context, s *scenario.Scenario) error {
	if err := s.Environment.CreateNamespace(ctx, large); err != nil {
		return err
	}
	configMaps := s.Environment.Client.CoreV1().ConfigMaps(large)
	for _, digit := range []string{"0", "1", "2"} {
		object := applycorev1.ConfigMap("large", large).
			WithData(map[string]string{"data": strings.Repeat(digit, 1<<20)})
		if _, err := configMaps.Apply(ctx, object, metav1.ApplyOptions{FieldManager: "faults"}); err != nil {
			return err
		}
		if err := reset(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
