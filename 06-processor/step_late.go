package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/play"
)

// stepLate adds a handler to a processor that has been running for a while. The handler gets the
// present pods as adds, and then each change after that. No change is lost, and none comes twice.
func stepLate(ctx context.Context, env *play.Env) error {
	p := processor.New(processor.NewChannels())
	p.Start()
	defer p.Stop()
	p.Synced() // the initial list was empty

	var mu sync.Mutex // no change is distributed between the look at pods and Add
	pods := map[string]any{}
	change := func(kind processor.Kind, name string, phase corev1.PodPhase) {
		mu.Lock()
		defer mu.Unlock()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: phase}}
		p.Distribute(processor.Notification{Kind: kind, Key: name, Old: pods[name], New: pod})
		pods[name] = pod
	}
	env.On("pod1 is created, and begins to run", func() {
		change(processor.Added, "pod1", corev1.PodPending)
		change(processor.Updated, "pod1", corev1.PodRunning)
	})
	env.On("a handler joins", func() {
		mu.Lock()
		var present []processor.Notification
		for name, pod := range pods {
			present = append(present, processor.Notification{Kind: processor.Added, Initial: true, Key: name, New: pod})
		}
		registration, err := p.Add(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, isInInitialList bool) {
				pod := obj.(*corev1.Pod)
				fmt.Fprintf(env.Out, "OnAdd : %s : %s (initial list: %t)\n",
					pod.Name, pod.Status.Phase, isInInitialList)
			},
			UpdateFunc: func(old, obj any) {
				pod, oldPod := obj.(*corev1.Pod), old.(*corev1.Pod)
				fmt.Fprintf(env.Out, "OnUpdate : %s : %s (was %s)\n", pod.Name, pod.Status.Phase, oldPod.Status.Phase)
			},
		}, processor.Options{Present: slices.Values(present)})
		mu.Unlock() // from here on, the listener keeps the changes
		if err != nil {
			fmt.Fprintln(env.Out, "Add :", err)
			return
		}
		if cache.WaitFor(ctx, "", registration) {
			fmt.Fprintln(env.Out, "the handler has synced")
		}
	})
	env.On("pod1 ends, and pod2 is created", func() {
		change(processor.Updated, "pod1", corev1.PodSucceeded)
		change(processor.Added, "pod2", corev1.PodPending)
	})
	<-ctx.Done()
	return nil
}
