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

// stepSlow has a handler that takes a second for each pod, and a handler that takes no time. Each
// line begins with the age of the pod.
func stepSlow(ctx context.Context, env *play.Env) error {
	p := processor.New(processor.NewChannels())
	p.Start()
	defer p.Stop()

	for name, delay := range map[string]time.Duration{"slow": time.Second, "fast": 0} {
		_, err := p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			time.Sleep(delay)
			pod := obj.(*corev1.Pod)
			age := int(time.Since(pod.CreationTimestamp.Time).Seconds())
			fmt.Fprintf(env.Out, "after %d s : %s : OnAdd : %s : %s\n", age, name, pod.Name, pod.Status.Phase)
		}}, processor.Options{})
		if err != nil {
			return err
		}
	}
	env.On("pod1, pod2 and pod3 are created", func() {
		for _, name := range []string{"pod1", "pod2", "pod3"} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Now()}}
			pod.Status.Phase = corev1.PodPending
			p.Distribute(processor.Notification{Kind: processor.Added, Key: name, New: pod})
		}
	})
	<-ctx.Done()
	return nil
}
