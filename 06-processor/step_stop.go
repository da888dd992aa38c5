package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/play"
)

// stepStop stops a processor while its handler is busy with pod1, and two more
// pods wait. Then it looks for goroutines that are left.
func stepStop(ctx context.Context, l *play.Lesson) error {
	for _, fanout := range []processor.Fanout{processor.NewChannels(), processor.NewLog()} {
		fmt.Fprintf(l.Out, "# %T: pod1, pod2 and pod3 are created\n", fanout)
		before := runtime.NumGoroutine()
		p := processor.New(fanout)
		p.Start()
		calls := make(chan string, 4) // a place for each pod: the handler must not wait
		busy := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			name := obj.(*corev1.Pod).Name
			fmt.Fprintln(l.Out, "OnAdd begins :", name)
			calls <- name
			time.Sleep(500 * time.Millisecond)
			fmt.Fprintln(l.Out, "OnAdd returns :", name)
		}}
		if _, err := p.Add(busy, processor.Options{}); err != nil {
			return err
		}
		distribute := func(name string) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
			p.Distribute(processor.Notification{Kind: processor.Added, Key: name, New: pod})
		}
		distribute("pod1")
		distribute("pod2")
		distribute("pod3")
		<-calls // pod1: the call is under way

		fmt.Fprintln(l.Out, "# Stop")
		p.Stop()
		fmt.Fprintln(l.Out, "Stop returns")
		distribute("pod4")
		_, err := p.Add(busy, processor.Options{})
		fmt.Fprintf(l.Out, "calls for pod2, pod3 and pod4 : %d\nanother handler : %v\n", len(calls), err)
		if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, // one may be on its way out
			func(context.Context) (bool, error) { return runtime.NumGoroutine() <= before, nil }); err != nil {
			return fmt.Errorf("waiting for the goroutines to end: %w", err)
		}
		fmt.Fprintln(l.Out, "goroutines left : none")
	}
	return nil
}
