package notices_test

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/08-factory/controller/survival"
)

func TestSurvival(t *testing.T) {
	test := func(newInformer notices.NewInformer) func(t *testing.T) {
		return func(t *testing.T) {
			t.Parallel()
			survival.Test(t, survival.Controller{
				Start: func(ctx context.Context, config *rest.Config, namespace string) error {
					return notices.Run(ctx, config, namespace, notices.Options{NewInformer: newInformer})
				},
				Definition: "../testdata/notices.yaml",
				Manifests:  "testdata/survival",
				Exact:      []string{"data"},
				Finalizer:  "example.com/notices",
				Reason:     "Created",
			})
		}
	}
	t.Run("client-go's informers", test(cache.NewSharedIndexInformerWithOptions))
	t.Run("our informers", test(informer.Default.New))
}
