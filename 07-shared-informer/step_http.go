package main

import (
	"context"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/web"
	"example.com/informer/scripts/harness/step"
)

// stepHTTP serves the store of an informer. It does not listen before the store is complete. (The
// pages are in pages.go.)
func stepHTTP(ctx context.Context, l *step.Lesson) error {
	listWatch := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "pods", l.Namespace, fields.Everything())
	pods := informer.New(listWatch, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{
			indexer.Namespace: indexer.ByNamespace, // of chapter 04
			"app":             indexer.ByLabel("app"),
		},
	})
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { pods.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", pods.HasSyncedChecker()) {
		return ctx.Err()
	}

	server, err := web.Start(ctx, web.Addr(addr, l.Follow), podPages{pods.GetIndexer()}.pages())
	if err != nil {
		return err
	}
	l.ServesAt(strings.TrimPrefix(server.URL(), "http://"))
	return server.Wait()
}
