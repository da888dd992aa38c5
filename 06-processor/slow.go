package main

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/06-processor/processor"
)

// slow has a handler that takes a second for each pod, and one that takes no
// time. What they write is printed as it comes.
func slow(ctx context.Context, out io.Writer) error {
	pods := newSource(processor.NewLog())
	defer pods.Stop()
	lines, begin := newLines(), time.Now()
	takesASecond := func(*corev1.Pod) { _ = pause(ctx, time.Second) }
	if _, err := pods.join(first{takesASecond, writer("slow", lines)}, processor.Options{}); err != nil {
		return err
	}
	if _, err := pods.join(writer("fast", lines), processor.Options{}); err != nil {
		return err
	}

	fmt.Fprintln(out, "# pod1, pod2 and pod3 come")
	for _, name := range []string{"pod1", "pod2", "pod3"} {
		pods.set(name, "Pending")
	}
	for range 6 {
		line, err := next(ctx, lines)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "after %d s : %s\n", int(time.Since(begin).Seconds()), line)
	}
	return nil
}
