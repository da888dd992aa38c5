package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/play"
)

// stepPanic has a handler that panics for pod2. The panic goes to utilruntime's PanicHandlers,
// where a program puts its crash reporting. A second later the handler is called for pod3.
func stepPanic(ctx context.Context, env *play.Env) error {
	before := utilruntime.PanicHandlers
	defer func() { utilruntime.PanicHandlers = before }()
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) {
		fmt.Fprintf(env.Out, "touchy : reported : %v (the stack leads to this step: %t)\n",
			r, strings.Contains(string(debug.Stack()), ".stepPanic"))
	}}
	p := processor.New(processor.NewChannels())
	p.Start()
	defer p.Stop()

	for _, name := range []string{"touchy", "calm"} {
		_, err := p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			pod := obj.(*corev1.Pod)
			if name == "touchy" && pod.Name == "pod2" {
				panic("not that one")
			}
			fmt.Fprintf(env.Out, "%s : OnAdd : %s : %s\n", name, pod.Name, pod.Status.Phase)
		}}, processor.Options{})
		if err != nil {
			return err
		}
	}
	env.On("pod1, pod2 and pod3 are created", func() {
		for _, name := range []string{"pod1", "pod2", "pod3"} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
			pod.Status.Phase = corev1.PodPending
			p.Distribute(processor.Notification{Kind: processor.Added, Key: name, New: pod})
		}
	})
	<-ctx.Done()
	return nil
}
