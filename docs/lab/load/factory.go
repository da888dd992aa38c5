// The two factories.

package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/docs/lab/bench/report"
)

// startFactory runs the informer of ConfigMaps of one factory or the other, with
// these handlers, and returns what says that each has synced. Neither factory has
// options that the other lacks.
func startFactory(
	ctx context.Context, name string, client kubernetes.Interface, all handlers,
) ([]cache.DoneChecker, error) {
	var informer cache.SharedIndexInformer
	var run func(context.Context)
	switch name {
	case report.Ours:
		ours := factory.New(client, factory.Options{Namespace: namespace})
		informer, run = ours.ConfigMaps().Informer(), ours.Start
	case report.Theirs:
		theirs := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		informer, run = theirs.Core().V1().ConfigMaps().Informer(), theirs.StartWithContext
	default:
		return nil, fmt.Errorf("there is no factory %q", name)
	}
	var synced []cache.DoneChecker
	for _, h := range all {
		registration, err := informer.AddEventHandler(h)
		if err != nil {
			return nil, err
		}
		synced = append(synced, registration.HasSyncedChecker())
	}
	run(ctx)
	return synced, nil
}
