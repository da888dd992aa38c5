package main

import (
	"context"
	"fmt"
	"sync"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepSame asks for pods in each possible way, and from a hundred goroutines at the same time. The
// server gets a request for only one list.
func stepSame(ctx context.Context, env *step.Env) error {
	f := factory.New(env.Client, factory.Options{Namespace: env.Namespace})
	defer f.Shutdown()
	pods := f.Pods().Informer()
	byName, err := f.ForResource(factory.Pods)
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "Pods, again : the same informer:", f.Pods().Informer() == pods)
	fmt.Fprintln(env.Out, "ForResource : the same informer:", byName.Informer() == pods)
	fmt.Fprintln(env.Out, "as client-go's : the same store:",
		f.ClientGo().Core().V1().Pods().Informer().GetStore() == pods.GetStore())

	var asking sync.WaitGroup
	for range 100 {
		asking.Go(func() {
			f.Pods()
			f.Start(ctx)
		})
	}
	asking.Wait()
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "a hundred ask, and start :", env.Requests)

	env.Requests.Reset()
	configMaps := f.ConfigMaps().Informer()
	fmt.Fprintf(env.Out, "another type, after the start : %s, synced: %t\n", env.Requests, configMaps.HasSynced())
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "started again : %s, synced: %t\n", env.Requests, configMaps.HasSynced())
	return nil
}
