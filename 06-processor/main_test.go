// The test of the steps, and the fixtures of this chapter's tests: pods, notifications, handlers.

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSteps(t *testing.T) { must.PlayInFakeTime(t, chapter) }

// synctest fails if a goroutine is left at the end.
func TestStepsEndOnCtrlCAndLeaveNothingRunning(t *testing.T) {
	for _, s := range chapter.Steps {
		for nth := 1; nth <= 12; nth++ {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				lines := 0
				err := chapter.CheckStep(ctx, s.Name, func(string) {
					lines++
					if lines == nth {
						cancel()
					}
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, Ctrl-C at line %d: error %v, want nil or %v", s.Name, nth, err, context.Canceled)
				}
			})
		}
	}
}

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

// newLines returns a channel with room for all lines of a test: no handler waits for it.
func newLines() chan string { return make(chan string, 16) }

// recorder returns a handler that records its calls. At the beginning of each OnAdd it calls first,
// if first is not nil.
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
		UpdateFunc: func(oldObj, newObj any) {
			write("OnUpdate from", oldObj)
			write("to", newObj)
		},
		DeleteFunc: func(obj any) { write("OnDelete", obj) },
	}
}
