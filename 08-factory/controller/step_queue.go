package main

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/client-go/util/workqueue"

	"example.com/informer/scripts/harness/step"
)

// stepQueue uses the work queue without an informer. The queue holds keys, not events: a key that
// was added five times waits only once, and no two workers have the same key at the same time.
func stepQueue(_ context.Context, env *step.Env) error {
	queue := workqueue.NewTyped[string]()
	for range 5 {
		queue.Add("default/web")
	}
	fmt.Fprintln(env.Out, "added five times, waiting :", queue.Len())

	first, _ := queue.Get()
	queue.Add(first) // the object changes while a worker has its key
	queue.Add("default/db")
	fmt.Fprintln(env.Out, "worker 1 has", first+", which was added again; waiting :", queue.Len())

	second, _ := queue.Get()
	fmt.Fprintln(env.Out, "worker 2 gets", second+", waiting :", queue.Len())

	queue.Done(first) // only now can another worker get it
	fmt.Fprintln(env.Out, "worker 1 is done with", first+", waiting :", queue.Len())
	again, _ := queue.Get()
	fmt.Fprintln(env.Out, "a worker gets", again)

	// The worker does not call Done. From now on, no worker gets this key, no matter what happens
	// to the object.
	for range 3 {
		queue.Add(again)
	}
	fmt.Fprintln(env.Out, "Done was forgotten, added three times, waiting :", queue.Len())

	var draining sync.WaitGroup
	draining.Go(queue.ShutDownWithDrain) // returns when no worker has a key
	queue.Done(second)
	queue.Done(again) // without this line, ShutDownWithDrain would never return
	draining.Wait()
	queue.Add("default/late") // too late: the queue ignores it
	for {
		key, shutdown := queue.Get()
		if shutdown {
			fmt.Fprintln(env.Out, "drained: a worker gets nothing any more")
			return nil
		}
		fmt.Fprintln(env.Out, "shut down, and a worker still gets what was waiting :", key)
		queue.Done(key)
	}
}
