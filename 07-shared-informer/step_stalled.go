package main

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/journal"
	"example.com/informer/scripts/harness/step"
)

// stepStalled has a handler that gets the adds of 100 pods, and then is stuck. Meanwhile each pod
// changes 1,000 times. How many notifications wait for the handler?
func stepStalled(_ context.Context, env *step.Env) error {
	const pods, updates = 100, 100_000
	for _, fanout := range []processor.Fanout{processor.NewChannels(), journal.New()} {
		listener := fanout.Listen(nil)
		newest := map[string]any{}
		distribute := func(kind processor.Kind, i int) {
			name, version := fmt.Sprintf("pod%02d", i%pods), strconv.Itoa(i/pods+1)
			old := newest[name]
			newest[name] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
			fanout.Distribute(processor.Notification{Kind: kind, Key: name, Old: old, New: newest[name]})
		}
		var calls []processor.Notification // of the handler

		fmt.Fprintf(env.Out, "# %T: %d pods are added, and then the handler is stuck\n", fanout, pods)
		for i := range pods {
			distribute(processor.Added, i)
		}
		for len(calls) < pods {
			calls = append(calls, listener.Next()...)
		}
		fmt.Fprintf(env.Out, "# %d updates\n", updates)
		for i := range updates {
			distribute(processor.Updated, pods+i)
		}
		fmt.Fprintf(env.Out, "waiting : %d\n# the handler goes on\n", listener.Waiting())
		for listener.Waiting() > 0 {
			calls = append(calls, listener.Next()...)
		}
		listener.Close()

		delivered, inOrder := map[string]any{}, true // the last delivered state of each pod
		for i, n := range calls {
			inOrder = inOrder && n.Old == delivered[n.Key]
			delivered[n.Key] = n.New
			switch i {
			case pods, pods + 1, len(calls) - 2, len(calls) - 1:
				fmt.Fprintf(env.Out, "OnUpdate : %s : version %s (was %s)\n", n.Key,
					n.New.(*corev1.Pod).ResourceVersion, n.Old.(*corev1.Pod).ResourceVersion)
			case pods + 2:
				fmt.Fprintf(env.Out, "… %d more calls …\n", len(calls)-pods-4)
			}
		}
		fmt.Fprintln(env.Out, "each old object was the one delivered before :", inOrder)
		fmt.Fprintln(env.Out, "the last object delivered of each pod is its newest :", maps.Equal(delivered, newest))
	}
	return nil
}
