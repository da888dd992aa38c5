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
	"example.com/informer/docs/xray/server"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/web"
)

// stepXray serves a page that shows two informers at work, each beside client-go's.
func stepXray(ctx context.Context, env *step.Env) error {
	configMaps, err := xrayOptions(env, "configmaps", "ConfigMap", &corev1.ConfigMap{}, server.ConfigMaps)
	if err != nil {
		return err
	}
	defer configMaps.Connection.Close()
	pods, err := xrayOptions(env, "pods", "Pod", &corev1.Pod{}, server.Pods)
	if err != nil {
		return err
	}
	defer pods.Connection.Close()

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	x, err := server.Start(ctx, env.Namespace, configMaps, pods)
	if err != nil {
		return err
	}
	running.Go(x.Wait)
	running.Go(func() { configMaps.Informer.RunWithContext(ctx) })
	running.Go(func() { pods.Informer.RunWithContext(ctx) })

	serving, err := web.Start(ctx, web.Addr(addr, env.Follow), x.Pages())
	if err != nil {
		return err
	}
	env.ServesAt(strings.TrimPrefix(serving.URL(), "http://"))
	fmt.Fprintf(env.Out, "open %s/xray\n", serving.URL())
	return serving.Wait()
}

// xrayOptions makes an informer, connections to the API server for it and for client-go's alone,
// and what the buttons of the page need.
func xrayOptions(env *step.Env, resource, kind string, example runtime.Object,
	objects func(kubernetes.Interface, string) server.Objects) (*server.InformerOptions, error) {
	connection, err := server.NewConnection(env.Config)
	if err != nil {
		return nil, err
	}
	source := func(client kubernetes.Interface) *server.Source {
		return server.NewSource(cache.NewListWatchFromClient(client.CoreV1().RESTClient(), resource, env.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt"))) // which every namespace has
	}
	options := &server.InformerOptions{
		Name: resource, Kind: kind, Example: example,
		Connection: connection, Source: source(connection.Ours), ClientGoSource: source(connection.ClientGo),
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")},
		Objects:  objects(env.Client, env.Namespace), // without the connection: it works while that is cut
	}
	options.Informer = informer.NewWithParts(options.Source, example,
		cache.SharedIndexInformerOptions{Indexers: options.Indexers}, parttwo.Parts)
	options.Informer.SetPatience(500) // a slow handler is soon far behind
	return options, nil
}
