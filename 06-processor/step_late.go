package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/play"
)

// stepLate adds a handler to a processor that has been running for a while. The
// handler gets the present state as adds, then what follows: nothing is missing,
// nothing comes twice.
func stepLate(ctx context.Context, l *play.Lesson) error {
	p := processor.New(processor.NewLog())
	p.Start()
	defer p.Stop()
	p.Synced() // the initial list was empty

	var mu sync.Mutex // no change is made and distributed between the look at pods and Add
	pods := map[string]any{}
	change := func(kind processor.Kind, name string, phase corev1.PodPhase) {
		mu.Lock()
		defer mu.Unlock()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: phase}}
		n := processor.Notification{Kind: kind, Key: name, Old: pods[name], New: pod}
		pods[name] = pod
		if kind == processor.Deleted {
			delete(pods, name)
		}
		p.Distribute(n)
	}
	join := func(handler string) (*processor.Registration, error) {
		mu.Lock()
		defer mu.Unlock()
		var present []processor.Notification
		for _, name := range slices.Sorted(maps.Keys(pods)) {
			present = append(present,
				processor.Notification{Kind: processor.Added, Initial: true, Key: name, New: pods[name]})
		}
		printPod := func(call string, obj any, note string) {
			pod := obj.(*corev1.Pod)
			fmt.Fprintf(l.Out, "%s : %s : %s : %s%s\n", handler, call, pod.Name, pod.Status.Phase, note)
		}
		return p.Add(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, isInInitialList bool) {
				printPod("OnAdd", obj, fmt.Sprintf(" (initial list: %t)", isInInitialList))
			},
			UpdateFunc: func(old, obj any) {
				printPod("OnUpdate", obj, fmt.Sprintf(" (was %s)", old.(*corev1.Pod).Status.Phase))
			},
			DeleteFunc: func(obj any) { printPod("OnDelete", obj, "") },
		}, processor.Options{Present: slices.Values(present)})
	}

	if _, err := join("early"); err != nil {
		return err
	}
	l.On("pod1 and pod2 are created, and pod1 begins to run", func() {
		change(processor.Added, "pod1", corev1.PodPending)
		change(processor.Added, "pod2", corev1.PodPending)
		change(processor.Updated, "pod1", corev1.PodRunning)
	})
	l.On("a handler joins", func() {
		if registration, err := join("late"); err == nil && cache.WaitFor(ctx, "", registration) {
			fmt.Fprintln(l.Out, "late : has synced")
		}
	})
	l.On("pod2 is deleted, and pod3 is created", func() {
		change(processor.Deleted, "pod2", corev1.PodPending)
		change(processor.Added, "pod3", corev1.PodPending)
	})
	<-ctx.Done()
	return nil
}
