package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// many puts one pod under several values, and watches the indexes follow when
// the pod changes and goes.
func many(_ context.Context, out io.Writer) error {
	web := newPod("ns1", "web", "shop", "nginx:1.29", "envoy:1.38")
	index, err := newIndexer(cache.Indexers{"app": indexer.ByLabel("app"), indexer.Image: indexer.ByImage},
		web, newPod("ns1", "db", "shop", "postgres:18", "envoy:1.38"))
	if err != nil {
		return err
	}
	show := func(title string) error {
		fmt.Fprintln(out, "#", title)
		if err := showIndex(out, index, "app"); err != nil {
			return err
		}
		return showIndex(out, index, indexer.Image)
	}
	if err := show("two pods, with two images each"); err != nil {
		return err
	}

	changed := web.DeepCopy()
	changed.Labels["app"] = "blog"
	changed.Spec.Containers = changed.Spec.Containers[:1]
	if err := index.Update(changed); err != nil {
		return err
	}
	if err := show("web gets another label and loses its second container"); err != nil {
		return err
	}

	if err := index.Delete(changed); err != nil {
		return err
	}
	return show("web is deleted")
}
