package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/web"
	"example.com/informer/07-shared-informer/xray"
	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepXray shows two informers of a factory on the page X-ray of chapter 07, one at a time. Beside
// each of them, the page shows an informer of client-go.
func stepXray(ctx context.Context, l *step.Lesson) error {
	line, err := xray.NewLine(l.Config)
	if err != nil {
		return err
	}
	defer line.Close()
	sources := map[string]*xray.Source{}
	f := factory.New(line.Client, factory.Options{
		Namespace: l.Namespace,
		TweakListOptions: func(options *metav1.ListOptions) {
			options.FieldSelector = "metadata.name!=kube-root-ca.crt" // which every namespace has
		},
		Wrap: func(resource schema.GroupVersionResource, lw cache.ListerWatcher) cache.ListerWatcher {
			sources[resource.Resource] = xray.NewSource(lw) // the page can let its watches expire
			return sources[resource.Resource]
		},
	})
	defer f.Shutdown()
	configMaps := &xray.Subject{
		Name: "configmaps", Kind: "ConfigMap", Example: &corev1.ConfigMap{},
		Informer: f.ConfigMaps().Informer().(*informer.Informer),
		Theirs:   theirSource(line.Theirs, "configmaps", l.Namespace),
		Objects:  xray.ConfigMaps(l.Client, l.Namespace),
	}
	pods := &xray.Subject{
		Name: "pods", Kind: "Pod", Example: &corev1.Pod{},
		Informer: f.Pods().Informer().(*informer.Informer),
		Theirs:   theirSource(line.Theirs, "pods", l.Namespace),
		Objects:  xray.Pods(l.Client, l.Namespace),
	}
	for _, s := range []*xray.Subject{configMaps, pods} {
		s.Line, s.Source, s.Indexers = line, sources[s.Name], cache.Indexers{"app": indexer.ByLabel("app")}
		s.Informer.SetPatience(500) // the informer soon folds changes for a slow handler
		if err := s.Informer.AddIndexers(s.Indexers); err != nil {
			return err
		}
	}

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	x, err := xray.Start(ctx, l.Namespace, configMaps, pods)
	if err != nil {
		return err
	}
	running.Go(x.Wait)
	f.Start(ctx)

	server, err := web.Start(ctx, listenAt(l.Follow), x.Pages())
	if err != nil {
		return err
	}
	l.ServesAt(strings.TrimPrefix(server.URL(), "http://"))
	fmt.Fprintf(l.Out, "open %s/xray\n", server.URL())
	return server.Wait()
}

// theirSource returns the source of client-go's informer: the same objects as ours.
func theirSource(client kubernetes.Interface, resource, namespace string) *xray.Source {
	return xray.NewSource(cache.NewListWatchFromClient(client.CoreV1().RESTClient(), resource, namespace,
		fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")))
}
