package main

import (
	"context"
	"fmt"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepAgain asks for a type that was forgotten. It gets a new informer, which lists again. The old
// informer has ended, and never runs again.
func stepAgain(ctx context.Context, l *step.Lesson) error {
	f := factory.New(l.Client, factory.Options{Namespace: l.Namespace})
	defer f.Shutdown()
	first := f.ConfigMaps().Informer()
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintf(l.Out, "the first one : %d objects; %s\n", len(first.GetStore().ListKeys()), l.Requests)

	f.Forget(factory.ConfigMaps)
	l.Requests.Reset()
	second := f.ConfigMaps().Informer()
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintf(l.Out, "asked for again : the same informer: %t; %d objects; %s\n",
		second == first, len(second.GetStore().ListKeys()), l.Requests)
	fmt.Fprintf(l.Out, "stopped : the first one: %t, the second one: %t\n", first.IsStopped(), second.IsStopped())
	return nil
}
