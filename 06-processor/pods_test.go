// The pods and handlers of this chapter's tests.

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

func newPod(name string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func added(pod *corev1.Pod) processor.Notification {
	return processor.Notification{Kind: processor.Added, Key: pod.Name, New: pod}
}

func updated(old, pod *corev1.Pod) processor.Notification {
	return processor.Notification{Kind: processor.Updated, Key: pod.Name, Old: old, New: pod}
}

// newLines has room for all that the handlers of a test write: none of them
// ever waits.
func newLines() chan string { return make(chan string, 16) }

// recorder returns a handler that writes down its calls. Before each OnAdd it
// calls first, if that is not nil.
func recorder(lines chan<- string, first func(*corev1.Pod)) cache.ResourceEventHandler {
	write := func(call string, obj any) {
		lines <- fmt.Sprintf("%s %s %s", call, obj.(*corev1.Pod).Name, obj.(*corev1.Pod).Status.Phase)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if first != nil {
				first(obj.(*corev1.Pod))
			}
			write("OnAdd", obj)
		},
		UpdateFunc: func(oldObj, newObj any) { write("OnUpdate from", oldObj); write("to", newObj) },
		DeleteFunc: func(obj any) { write("OnDelete", obj) },
	}
}
