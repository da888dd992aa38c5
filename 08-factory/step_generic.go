package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepGeneric asks for types by the names that kubectl takes, like a program whose user names the
// types to watch.
func stepGeneric(ctx context.Context, env *step.Env) error {
	f := factory.New(env.Client, factory.Options{Namespace: env.Namespace})
	defer f.Shutdown()
	for _, name := range []string{"configmaps.v1.", "pods.v1.", "serviceaccounts.v1.", "unicorns.v1.example.com",
		"tokenreviews.v1.authentication.k8s.io"} {
		resource, _ := schema.ParseResourceArg(name) // RESOURCE.VERSION.GROUP
		asked, err := f.ForResource(*resource)
		if err != nil {
			fmt.Fprintln(env.Out, err)
			continue
		}
		f.Start(ctx) // those that run already run on
		if err := f.WaitForCacheSync(ctx); err != nil {
			return err
		}
		objs, err := asked.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		if len(objs) > 0 {
			fmt.Fprintf(env.Out, "%s : %s, of type %T\n", resource.Resource, names(objs, nil), objs[0])
		}
	}
	return nil
}
