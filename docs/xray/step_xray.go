package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/docs/xray/server"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/web"
)

// stepXray serves a page that shows two informers at work, each beside another.
func stepXray(ctx context.Context, env *step.Env) error {
	comparison, err := server.ParseComparison(compare)
	if err != nil {
		return err
	}
	configMaps, err := server.NewConnection(env.Config)
	if err != nil {
		return err
	}
	defer configMaps.Close()
	pods, err := server.NewConnection(env.Config)
	if err != nil {
		return err
	}
	defer pods.Close()

	ctx, cancel := context.WithCancel(ctx)
	x, err := server.Compare(ctx, env.Namespace, comparison, func() []*server.InformerOptions {
		return []*server.InformerOptions{
			xrayOptions(env, configMaps, "configmaps", "ConfigMap", &corev1.ConfigMap{}, server.ConfigMaps),
			xrayOptions(env, pods, "pods", "Pod", &corev1.Pod{}, server.Pods),
		}
	})
	if err != nil {
		cancel()
		return err
	}
	defer x.Wait()
	defer cancel()

	serving, err := web.Start(ctx, web.Addr(addr, env.Follow), x.Pages())
	if err != nil {
		return err
	}
	env.ServesAt(strings.TrimPrefix(serving.URL(), "http://"))
	fmt.Fprintf(env.Out, "open %s/xray\n", serving.URL())
	return serving.Wait()
}

// xrayOptions describes an informer: the sources for it and for the one beside it, and what the
// buttons of the page need.
func xrayOptions(env *step.Env, connection *server.Connection, resource, kind string, example runtime.Object,
	objects func(kubernetes.Interface, string) server.Objects) *server.InformerOptions {
	source := func(client kubernetes.Interface) *server.Source {
		return server.NewSource(cache.NewListWatchFromClient(client.CoreV1().RESTClient(), resource, env.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt"))) // which every namespace has
	}
	return &server.InformerOptions{
		Name: resource, Kind: kind, Example: example,
		Connection: connection, Source: source(connection.Ours), SecondSource: source(connection.ClientGo),
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")},
		Objects:  objects(env.Client, env.Namespace), // without the connection: it works while that is cut
	}
}
