package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/play"
)

// stepStop stops a processor while its handler is busy with pod1, and two more pods wait. Then it
// tries to add another handler.
func stepStop(_ context.Context, env *play.Env) error {
	p := processor.New(processor.NewChannels())
	p.Start()
	calls := make(chan string, 3) // with room for each pod: the handler must not wait
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		name := obj.(*corev1.Pod).Name
		fmt.Fprintln(env.Out, "OnAdd begins :", name)
		calls <- name
		time.Sleep(500 * time.Millisecond)
		fmt.Fprintln(env.Out, "OnAdd returns :", name)
	}}
	if _, err := p.Add(handler, processor.Options{}); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "# pod1, pod2 and pod3 are created")
	for _, name := range []string{"pod1", "pod2", "pod3"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		p.Distribute(processor.Notification{Kind: processor.Added, Key: name, New: pod})
	}
	<-calls // pod1: the call has begun

	fmt.Fprintln(env.Out, "# Stop")
	p.Stop()
	fmt.Fprintln(env.Out, "Stop returns : calls for pod2 and pod3 :", len(calls))
	_, err := p.Add(handler, processor.Options{})
	fmt.Fprintln(env.Out, "another handler :", err)
	return nil
}
