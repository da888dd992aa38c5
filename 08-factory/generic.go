package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/08-factory/factory"
)

// generic asks for types by the names that kubectl takes, as a program does
// that learns from its user what to look at.
func generic(ctx context.Context, s *kube.Session) error {
	if err := createPod(ctx, s, "web", "web"); err != nil {
		return err
	}
	f := factory.New(s.Clientset, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()
	show := map[string]func(){}
	wanted := []string{"configmaps.v1.", "pods.v1.", "serviceaccounts.v1.", "unicorns.v1.example.com",
		"tokenreviews.v1.authentication.k8s.io"}
	for _, name := range wanted {
		resource, _ := schema.ParseResourceArg(name)
		asked, err := f.ForResource(*resource)
		if err != nil {
			show[name] = func() { s.Printf("%v\n", err) }
			continue
		}
		show[name] = func() { s.Printf("%s : %s\n", resource.Resource, contents(asked.Lister())) }
	}
	if err := start(ctx, f); err != nil {
		return err
	}
	for _, name := range wanted {
		show[name]()
	}
	return nil
}

// contents are the names in a store, and the Go type that its objects have.
func contents(lister cache.GenericLister) string {
	objs, err := lister.List(labels.Everything())
	if err != nil || len(objs) == 0 {
		return fmt.Sprintf("nothing, %v", err)
	}
	return fmt.Sprintf("%s, of type %T", names(objs, nil), objs[0])
}
