package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"example.com/informer/06-processor/processor"
)

// panicking has a handler that panics when it is told of pod2. This goes to
// utilruntime's PanicHandlers, where a program puts its crash reporting. A second
// later the handler is told of pod3 all the same; the other one never notices.
func panicking(ctx context.Context, out io.Writer) error {
	calm, touchy := newLines(), newLines()
	before := utilruntime.PanicHandlers
	defer func() { utilruntime.PanicHandlers = before }()
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) {
		touchy <- fmt.Sprintf("reported : %v (the stack leads to this step: %t)",
			p, strings.Contains(string(debug.Stack()), ".panicking"))
	}}
	pods := newSource(processor.NewLog())
	defer pods.Stop()
	panics := func(pod *corev1.Pod) {
		if pod.Name == "pod2" {
			panic("not that one")
		}
	}
	if _, err := pods.join(writer("calm", calm), processor.Options{}); err != nil {
		return err
	}
	if _, err := pods.join(first{panics, writer("touchy", touchy)}, processor.Options{}); err != nil {
		return err
	}

	fmt.Fprintln(out, "# pod1, pod2 and pod3 come")
	for _, name := range []string{"pod1", "pod2", "pod3"} {
		pods.set(name, "Pending")
	}
	return errors.Join(show(ctx, out, 3, touchy), show(ctx, out, 3, calm))
}
