package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepOrder runs the informer on each of the two queues. The queue already has four changes when the
// loop begins, as if the loop had been busy: a in version 3, b in version 4, a in version 5, and a
// bookmark of version 9. (No server is asked.)
func stepOrder(ctx context.Context, env *step.Env) error {
	for _, newQueue := range []func(cache.KeyListerGetter) informer.Queue{informer.DeltaFIFO, informer.RealFIFO} {
		filled := func(known cache.KeyListerGetter) informer.Queue {
			queue := newQueue(known)
			fmt.Fprintf(env.Out, "# %s\n", queue.Name())
			for _, change := range []func() error{
				func() error { return queue.Add(inVersion("a", "3")) },
				func() error { return queue.Add(inVersion("b", "4")) },
				func() error { return queue.Update(inVersion("a", "5")) },
				func() error {
					if ordered, ok := queue.(cache.ReflectorBookmarkStore); ok { // a DeltaFIFO takes no bookmarks
						return ordered.Bookmark("9")
					}
					return nil
				},
			} {
				if err := change(); err != nil {
					fmt.Fprintln(env.Out, err)
				}
			}
			return queue
		}
		configMaps := informer.NewWithParts(silent, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{},
			informer.Parts{Queue: filled})
		calls := make(chan string, 3)
		called := func(method string, obj any) {
			configMap := obj.(*corev1.ConfigMap)
			calls <- fmt.Sprintf("%s : %s : version %s", method, configMap.Name, configMap.ResourceVersion)
		}
		_, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { called("OnAdd", obj) },
			UpdateFunc: func(_, newObj any) { called("OnUpdate", newObj) },
		})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { configMaps.RunWithContext(ctx) })
		for range 3 {
			select {
			case call := <-calls:
				fmt.Fprintln(env.Out, call)
			case <-ctx.Done():
			}
		}
		fmt.Fprintln(env.Out, "WaitForVersion 9 :", configMaps.WaitForVersion(ctx, "9"))
		cancel()
		running.Wait()
	}
	return ctx.Err()
}

func inVersion(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

// silent answers neither a list nor a watch.
var silent = &cache.ListWatch{
	ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	},
	WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	},
}
