package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/step"
)

// stepLabel makes an index by the label app twice: with the name app, and with the name namespace,
// for which client-go expects another index.
func stepLabel(_ context.Context, env *step.Env) error {
	for _, name := range []string{"app", "namespace"} {
		fmt.Fprintf(env.Out, "# an index called %q that computes the label app\n", name)
		index := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{name: indexer.ByLabel("app")})
		for _, pod := range []*corev1.Pod{newPod("ns1", "pod1", "l1"), newPod("ns2", "pod2", "l2")} {
			if err := index.Add(pod); err != nil {
				return err
			}
		}
		for _, value := range []string{"l1", "ns1"} {
			keys, err := index.IndexKeys(name, value)
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Out, name, value, ":", keys)
		}
		if name == cache.NamespaceIndex { // a lister uses the index with this name
			pods, err := corelisters.NewPodLister(index).Pods("ns1").List(labels.Everything())
			fmt.Fprintf(env.Out, "a lister finds in ns1 : %d pods, error: %v\n", len(pods), err)
		}
	}
	return nil
}
