package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/usage"
)

// stepForget forgets one informer of a factory, while the other informer runs on. Then it looks for
// the objects and the goroutines of the forgotten informer, and asks for its type again.
func stepForget(ctx context.Context, env *step.Env) error {
	f := factory.New(env.Client, factory.Options{Namespace: env.Namespace})
	defer f.Shutdown()
	pods := f.Pods().Informer()
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	f.ConfigMaps()
	pprof.Do(ctx, pprof.Labels("step", env.Namespace), f.Start) // goroutines inherit the label
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	var cached []weak.Pointer[corev1.ConfigMap] // a weak pointer does not keep its object in memory
	for _, obj := range f.ConfigMaps().Informer().GetStore().List() {
		cached = append(cached, weak.Make(obj.(*corev1.ConfigMap)))
	}
	inMemory := func() (count int) {
		runtime.GC()
		runtime.GC() // the objects of a sync.Pool go only with the second collection
		for _, pointer := range cached {
			if pointer.Value() != nil {
				count++
			}
		}
		return count
	}
	running := func() bool { return usage.Goroutines("step", env.Namespace) > 0 }
	fmt.Fprintf(env.Out, "cached : %d objects in memory; goroutines: %t\n", inMemory(), running())

	f.Forget(factory.ConfigMaps)
	if err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return !running(), nil }); err != nil {
		return fmt.Errorf("waiting for the end of its goroutines: %w", err)
	}
	fmt.Fprintf(env.Out, "forgotten : %d objects in memory; goroutines: %t\n", inMemory(), running())
	fmt.Fprintln(env.Out, "pods : stopped:", pods.IsStopped())

	env.Requests.Reset()
	second := f.ConfigMaps().Informer() // a new informer, with a new store
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "asked for again : %d objects; %s\n", len(second.GetStore().ListKeys()), env.Requests)
	return nil
}
