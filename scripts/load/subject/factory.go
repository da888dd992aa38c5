// The two factories.

package subject

import (
	"context"
	"fmt"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/load/objects"
)

// A running is a factory whose informer runs.
type running struct {
	synced []cache.DoneChecker // one for each handler
	stop   func()
}

// start runs the informer of ConfigMaps of one factory or the other, with these
// handlers. Neither has options that the other lacks.
func start(ctx context.Context, name string, client kubernetes.Interface, all handlers) (running, error) {
	ctx, cancel := context.WithCancel(ctx)
	var informer cache.SharedIndexInformer
	var run func(context.Context)
	var shutdown func()
	switch name {
	case report.Ours:
		ours := factory.New(client, factory.Options{Namespace: objects.Namespace})
		informer, run, shutdown = ours.ConfigMaps().Informer(), ours.Start, ours.Shutdown
	case report.Theirs:
		theirs := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(objects.Namespace))
		informer, run, shutdown = theirs.Core().V1().ConfigMaps().Informer(), theirs.StartWithContext, theirs.Shutdown
	default:
		cancel()
		return running{}, fmt.Errorf("there is no factory %q", name)
	}
	r := running{stop: func() { cancel(); shutdown() }}
	for _, h := range all {
		registration, err := informer.AddEventHandler(h)
		if err != nil {
			cancel()
			return running{}, err
		}
		r.synced = append(r.synced, registration.HasSyncedChecker())
	}
	run(ctx)
	return r, nil
}
