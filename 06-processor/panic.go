package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/06-processor/processor"
)

// panicking has a handler that panics when it is told of pod2. This is
// reported, and it is told of pod3 all the same; the other handler never
// notices.
func panicking(ctx context.Context, out io.Writer) error {
	pods := newSource(processor.NewLog())
	defer pods.Stop()
	calm, touchy := newLines(), newLines()
	report := func(err error) {
		message, stack, _ := strings.Cut(err.Error(), "\n")
		touchy <- fmt.Sprintf("reported : %s (the stack leads to this step: %t)", message, strings.Contains(stack, ".panicking"))
	}
	panics := func(pod *corev1.Pod) {
		if pod.Name == "pod2" {
			panic("not that one")
		}
	}
	if _, err := pods.join(writer("calm", calm), processor.Options{}); err != nil {
		return err
	}
	if _, err := pods.join(first{panics, writer("touchy", touchy)}, processor.Options{OnPanic: report}); err != nil {
		return err
	}

	fmt.Fprintln(out, "# pod1, pod2 and pod3 come")
	for _, name := range []string{"pod1", "pod2", "pod3"} {
		pods.set(name, "Pending")
	}
	return errors.Join(show(ctx, out, 3, touchy), show(ctx, out, 3, calm))
}
