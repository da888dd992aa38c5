package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/07-shared-informer/web"
	"example.com/informer/07-shared-informer/xray"
	"example.com/informer/scripts/harness/step"
)

// stepXray serves a page that shows two informers at work, each beside client-go's.
func stepXray(ctx context.Context, l *step.Lesson) error {
	configMaps, err := xrayOptions(l, "configmaps", "ConfigMap", &corev1.ConfigMap{}, xray.ConfigMaps)
	if err != nil {
		return err
	}
	defer configMaps.Connection.Close()
	pods, err := xrayOptions(l, "pods", "Pod", &corev1.Pod{}, xray.Pods)
	if err != nil {
		return err
	}
	defer pods.Connection.Close()

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	x, err := xray.Start(ctx, l.Namespace, configMaps, pods)
	if err != nil {
		return err
	}
	running.Go(x.Wait)
	running.Go(func() { configMaps.Informer.RunWithContext(ctx) })
	running.Go(func() { pods.Informer.RunWithContext(ctx) })

	server, err := web.Start(ctx, web.Addr(addr, l.Follow), x.Pages())
	if err != nil {
		return err
	}
	l.ServesAt(strings.TrimPrefix(server.URL(), "http://"))
	fmt.Fprintf(l.Out, "open %s/xray\n", server.URL())
	return server.Wait()
}

// xrayOptions makes an informer, connections to the API server for it and for client-go's alone,
// and what the buttons of the page need.
func xrayOptions(l *step.Lesson, resource, kind string, example runtime.Object,
	objects func(kubernetes.Interface, string) xray.Objects) (*xray.InformerOptions, error) {
	connection, err := xray.NewConnection(l.Config)
	if err != nil {
		return nil, err
	}
	source := func(client kubernetes.Interface) *xray.Source {
		return xray.NewSource(cache.NewListWatchFromClient(client.CoreV1().RESTClient(), resource, l.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt"))) // which every namespace has
	}
	options := &xray.InformerOptions{
		Name: resource, Kind: kind, Example: example,
		Connection: connection, Source: source(connection.Ours), ClientGoSource: source(connection.ClientGo),
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")},
		Objects:  objects(l.Client, l.Namespace), // without the connection: it works while that is cut
	}
	options.Informer = informer.NewWithParts(options.Source, example,
		cache.SharedIndexInformerOptions{Indexers: options.Indexers}, parttwo.Parts)
	options.Informer.SetPatience(500) // a slow handler is soon far behind
	return options, nil
}
