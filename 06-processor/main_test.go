// The steps, and the pods and handlers of this chapter's tests.

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step/steptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSteps(t *testing.T) { steptest.RunInFakeTime(t, chapter) }

// A bubble does not end well while one of its goroutines is left.
func TestStepsEndOnCtrlCAndLeaveNothingRunning(t *testing.T) {
	for _, s := range chapter.Steps {
		if s.Name == "stalled" {
			continue // it waits for nothing, and takes long to test
		}
		for nth := 1; nth <= 12; nth++ {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				lines := 0
				err := chapter.Check(ctx, s, time.Minute, func(string) {
					if lines++; lines == nth {
						cancel()
					}
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, Ctrl-C at line %d: %v; want no other error", s.Name, nth, err)
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
