package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepResync has two handlers. One wants a resync every second, the other wants none. A resync
// makes no request to the server: the step counts the requests.
func stepResync(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermEqualSelector("metadata.name", "weather"))
	configMaps := informer.New(listWatch, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
		ResyncPeriod: time.Hour, // zero would mean: never, whatever a handler asks for
	})
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	calls := make(chan string)
	for name, period := range map[string]time.Duration{"eager": time.Second, "calm": 0} {
		called := func(method string, obj any) {
			select {
			case calls <- fmt.Sprintf("%s : %s : %s", name, method, obj.(*corev1.ConfigMap).Data["sky"]):
			case <-ctx.Done():
			}
		}
		_, err := configMaps.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { called("OnAdd", obj) },
			UpdateFunc: func(_, newObj any) { called("OnUpdate", newObj) },
		}, period)
		if err != nil {
			return err
		}
	}
	running.Go(func() { configMaps.RunWithContext(ctx) })

	for i := range 4 { // an add for each handler, and two resyncs
		if i == 2 {
			env.Requests.Reset()
		}
		select {
		case call := <-calls:
			fmt.Fprintln(env.Out, call)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	fmt.Fprintf(env.Out, "requests : %s since the first list\n", env.Requests)
	return nil
}
