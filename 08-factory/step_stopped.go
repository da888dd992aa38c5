package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/informers"

	"example.com/informer/scripts/harness/step"
)

// stepStopped tries the same with client-go's factory. This factory cannot stop a single informer,
// only all of them. And it never drops an informer that has stopped.
func stepStopped(ctx context.Context, l *step.Lesson) error {
	f := informers.NewSharedInformerFactoryWithOptions(l.Client, 0, informers.WithNamespace(l.Namespace))
	first := f.Core().V1().ConfigMaps().Informer()
	running, stop := context.WithCancel(ctx)
	defer stop()
	f.StartWithContext(running)
	if err := f.WaitForCacheSyncWithContext(running).AsError(); err != nil {
		return err
	}
	fmt.Fprintf(l.Out, "the first one : %d objects; %s\n", len(first.GetStore().ListKeys()), l.Requests)

	stop()
	f.Shutdown()
	l.Requests.Reset()
	second := f.Core().V1().ConfigMaps().Informer()
	f.StartWithContext(ctx) // starts nothing: the factory is shut down, and this informer has run before
	fmt.Fprintf(l.Out, "asked for again : the same store: %t; %d objects; %s\n",
		second.GetStore() == first.GetStore(), len(second.GetStore().ListKeys()), l.Requests)
	fmt.Fprintln(l.Out, "stopped :", second.IsStopped())
	return nil
}
