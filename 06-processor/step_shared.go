package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/play"
)

// stepShared has two handlers. Each event of a pod is distributed once, and both handlers are
// notified of it.
func stepShared(ctx context.Context, env *play.Env) error {
	p := processor.New(processor.NewChannels())
	p.Start()
	defer p.Stop()

	for _, name := range []string{"first", "second"} {
		_, err := p.Add(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				pod := obj.(*corev1.Pod)
				fmt.Fprintf(env.Out, "%s : OnAdd : %s : %s\n", name, pod.Name, pod.Status.Phase)
			},
			UpdateFunc: func(oldObj, newObj any) {
				old, pod := oldObj.(*corev1.Pod), newObj.(*corev1.Pod)
				fmt.Fprintf(env.Out, "%s : OnUpdate : %s : %s (was %s)\n",
					name, pod.Name, pod.Status.Phase, old.Status.Phase)
			},
			DeleteFunc: func(obj any) {
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = tombstone.Obj // the last known state: see chapter 05
				}
				if pod, ok := obj.(*corev1.Pod); ok {
					fmt.Fprintf(env.Out, "%s : OnDelete : %s : %s\n", name, pod.Name, pod.Status.Phase)
				}
			},
		}, processor.Options{})
		if err != nil {
			return err
		}
	}

	pending := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod1"}}
	pending.Status.Phase = corev1.PodPending
	running := pending.DeepCopy()
	running.Status.Phase = corev1.PodRunning
	env.On("pod1 is created", func() {
		p.Distribute(processor.Notification{Kind: processor.Added, Key: "pod1", New: pending})
	})
	env.On("pod1 begins to run", func() {
		p.Distribute(processor.Notification{Kind: processor.Updated, Key: "pod1", Old: pending, New: running})
	})
	env.On("pod1 is deleted", func() {
		p.Distribute(processor.Notification{Kind: processor.Deleted, Key: "pod1", Old: running, New: running})
	})
	<-ctx.Done()
	return nil
}
