package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/play"
)

// stepStopped uses a processor after Stop. It calls no handler, accepts no handler, and has left no
// goroutine behind.
func stepStopped(ctx context.Context, l *play.Lesson) error {
	before := runtime.NumGoroutine()
	p := processor.New(processor.NewChannels())
	p.Start()
	calls := 0
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { calls++ }}
	if _, err := p.Add(handler, processor.Options{}); err != nil {
		return err
	}
	p.Stop()

	p.Distribute(processor.Notification{Kind: processor.Added, Key: "pod1", New: &corev1.Pod{}})
	_, err := p.Add(handler, processor.Options{})
	fmt.Fprintln(l.Out, "another handler :", err)
	if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, // one may still be about to end
		func(context.Context) (bool, error) { return runtime.NumGoroutine() <= before, nil }); err != nil {
		return fmt.Errorf("waiting for the goroutines to end: %w", err)
	}
	fmt.Fprintf(l.Out, "goroutines left : none\ncalls for pod1 : %d\n", calls)
	return nil
}
