package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/store"
	"example.com/informer/scripts/harness/step"
)

// stepStarved blocks a reader in the middle of Index, in an index function. Then it writes to the
// store, and reads from it: first client-go's store, then ours.
func stepStarved(ctx context.Context, env *step.Env) error {
	pod, asked := newPod("ns1", "pod1", "l1"), newPod("ns1", "asked", "l1")
	for _, name := range []string{"client-go", "ours"} {
		reading, release := make(chan struct{}), make(chan struct{})
		indexers := cache.Indexers{"app": func(obj any) ([]string, error) {
			if obj == any(asked) { // only the reader below calls Index with it
				close(reading)
				<-release
			}
			return indexer.ByLabel("app")(obj)
		}}
		index, patience := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers), time.Second/2
		if name == "ours" {
			index, patience = store.New(store.Options{Indexers: indexers}), time.Minute
		}
		var running sync.WaitGroup
		start := func(what string, call func() error) {
			begun, returned := make(chan struct{}), make(chan struct{})
			running.Go(func() {
				defer close(returned)
				close(begun)
				if err := call(); err != nil {
					fmt.Fprintf(env.Out, "%s : %s : %v\n", name, what, err)
				}
			})
			<-begun
			select {
			case <-returned:
				fmt.Fprintf(env.Out, "%s : %s has returned\n", name, what)
			case <-time.After(patience):
				fmt.Fprintf(env.Out, "%s : %s waits\n", name, what)
			case <-ctx.Done():
			}
		}

		var readErr error
		running.Go(func() { _, readErr = index.Index("app", asked) })
		<-reading
		fmt.Fprintf(env.Out, "%s : a reader is in the middle of Index\n", name)
		start("Update", func() error { return index.Update(pod) })
		start("GetByKey", func() error { _, _, err := index.GetByKey("ns1/pod1"); return err })
		close(release)
		running.Wait()
		if readErr != nil {
			return readErr
		}
		fmt.Fprintf(env.Out, "%s : the reader has finished; pods in the store : %d\n", name, len(index.List()))
	}
	return ctx.Err()
}
