package main

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/04-indexer/indexer"
)

// follow keeps an index of a namespace's pods, and shows it whenever it has
// changed, until Ctrl-C.
func follow(ctx context.Context, s *kube.Session) error {
	s.Printf("Indexing pods. Try these in another terminal, and Ctrl-C here when done:\n"+
		"  %[1]s run nettool --image=%[2]s\n  %[1]s label pod nettool app=l1\n"+
		"  %[1]s label --overwrite pod nettool app=l2\n  %[1]s delete pod nettool\n",
		s.Kubectl(), kube.PauseImage)
	index, err := newIndexer(cache.Indexers{
		"app":         indexer.ByLabel("app"),
		indexer.Node:  indexer.ByNode,
		indexer.Image: indexer.ByImage,
	})
	if err != nil {
		return err
	}
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction:  cache.MetaNamespaceKeyFunc,
		KnownObjects: index,
	})
	defer flow.Start(ctx, cache.NewReflector(s.Pods(), &corev1.Pod{}, queue, 0))()
	before := ""
	return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error {
		if _, err := keep(index, d); err != nil {
			return err
		}
		now, err := indexes(index, "app", indexer.Node, indexer.Image)
		if err == nil && now != before {
			s.Printf("\n%s", now)
			before = now
		}
		return err
	})
}

// indexes returns a text of what is in the store and in its indexes.
func indexes(index cache.Indexer, names ...string) (string, error) {
	var text strings.Builder
	showKeys(&text, "pods", index.ListKeys())
	for _, name := range names {
		if err := showIndex(&text, index, name); err != nil {
			return "", err
		}
	}
	return text.String(), nil
}
