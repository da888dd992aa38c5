package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/play"
)

// stepListener sends pods through one listener. The add side is Distribute, which does not wait for
// the handler. The run side is the loop at the end, which calls the handler.
func stepListener(ctx context.Context, env *play.Env) error {
	fanout := processor.NewChannels()
	listener := fanout.Listen(nil)
	context.AfterFunc(ctx, listener.Close)

	for _, name := range []string{"pod1", "pod2", "pod3", "pod4", "pod5"} {
		env.On(name+" is created", func() {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
			pod.Status.Phase = corev1.PodPending
			fanout.Distribute(processor.Notification{Kind: processor.Added, Key: name, New: pod})
		})
	}
	env.On("the backlog is counted", func() { fmt.Fprintln(env.Out, "waiting :", listener.Waiting()) })
	started := make(chan struct{})
	env.On("the run side starts", sync.OnceFunc(func() { close(started) }))

	select {
	case <-started:
	case <-ctx.Done():
		return nil
	}
	onAdd := func(obj any) {
		pod := obj.(*corev1.Pod)
		fmt.Fprintf(env.Out, "handler : OnAdd : %s : %s\n", pod.Name, pod.Status.Phase)
	}
	for batch := listener.Next(); batch != nil; batch = listener.Next() { // nil: the listener is closed
		for _, n := range batch {
			onAdd(n.New)
		}
	}
	return nil
}
