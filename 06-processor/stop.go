package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

// stopping stops a processor while its handler is busy, and wants that no
// goroutine is left.
func stopping(ctx context.Context, out io.Writer) error {
	for _, way := range ways {
		fmt.Fprintf(out, "# %s\n", way.name)
		before := runtime.NumGoroutine()
		if err := stop(ctx, out, newSource(way.newFanout())); err != nil {
			return err
		}
		for runtime.NumGoroutine() > before { // one may be on its way out
			if err := pause(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		fmt.Fprintln(out, "goroutines left : none")
	}
	return nil
}

// stop stops the processor of pods while one call is under way and two
// notifications wait.
func stop(ctx context.Context, out io.Writer, pods *source) error {
	defer pods.Stop() // twice is fine
	lines := newLines()
	busy := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		lines <- "OnAdd begins : " + obj.(*corev1.Pod).Name
		_ = pause(ctx, 500*time.Millisecond)
		lines <- "OnAdd returns : " + obj.(*corev1.Pod).Name
	}}
	if _, err := pods.join(busy, processor.Options{}); err != nil {
		return err
	}
	fmt.Fprintln(out, "# pod1, pod2 and pod3 come")
	for _, name := range []string{"pod1", "pod2", "pod3"} {
		pods.set(name, "Pending")
	}
	if err := show(ctx, out, 1, lines); err != nil {
		return err
	}

	fmt.Fprintln(out, "# Stop")
	pods.Stop()
	if err := show(ctx, out, 1, lines); err != nil { // it was written before Stop returned
		return err
	}
	fmt.Fprintln(out, "Stop returns")
	pods.set("pod4", "Pending")
	_, err := pods.join(busy, processor.Options{})
	fmt.Fprintf(out, "calls for pod2, pod3 and pod4 : %d\nanother handler : %v\n", len(lines), err)
	return nil
}
