// Tests that count the objects that a stalled handler keeps in memory.

package main

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/fakeapi"
)

const (
	objects = 100
	updates = 20_000 // enough for the log to fold
)

// A workload adds pods, and then updates them in turn.
type workload struct {
	distribute func(processor.Notification)
	newest     [objects]*corev1.Pod
}

func (w *workload) add() {
	for i := range w.newest {
		w.newest[i] = newPod(fmt.Sprintf("pod%02d", i), "Running")
		w.distribute(added(w.newest[i]))
	}
}

func (w *workload) update() {
	for i := range updates {
		old := w.newest[i%objects]
		w.newest[i%objects] = old.DeepCopy()
		w.distribute(updated(old, w.newest[i%objects]))
	}
}

// weakPods are pointers that do not keep their pods alive.
type weakPods []weak.Pointer[corev1.Pod]

func (r *weakPods) add(n processor.Notification) {
	*r = append(*r, weak.Make(n.New.(*corev1.Pod)))
}

// alive is the number of pods that the garbage collector has not freed.
func (r *weakPods) alive() (n int) {
	runtime.GC()
	for _, pod := range *r {
		if pod.Value() != nil {
			n++
		}
	}
	return n
}

func TestWhatAStalledHandlerKeepsAlive(t *testing.T) {
	keeps := func(fanout processor.Fanout) int {
		var pods weakPods
		listener := fanout.Listen(nil)
		defer listener.Close()
		load := workload{distribute: func(n processor.Notification) {
			pods.add(n)
			fanout.Distribute(n)
		}}
		load.add()
		for read := 0; read < objects; {
			read += len(listener.Next())
		}
		load.update()
		return pods.alive()
	}
	channels, log := keeps(processor.NewChannels()), keeps(processor.NewLog())
	t.Logf("of %d pods, the channels keep %d, the log keeps %d", objects+updates, channels, log)
	if channels < updates {
		t.Errorf("the channels keep %d pods, want at least %d", channels, updates)
	}
	const limit = 2*objects + 2*256 // the old and the new state of each pod, and two chunks of the log
	if log > limit {
		t.Errorf("the log keeps %d pods, want at most %d", log, limit)
	}
}

func TestClientGoHoldsEveryNotificationForAStalledHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		release, calls, others := make(chan struct{}), 0, 0
		join(t, informer, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {
			<-release
			calls++
		}})
		join(t, informer, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { others++ }})
		start(t, informer)
		w := server.NextWatch()
		var pods weakPods
		load := workload{distribute: func(n processor.Notification) {
			pods.add(n)
			w.Modify(n.New.(*corev1.Pod)) // for an unknown pod, the informer makes an add of it
		}}
		load.add()
		load.update()
		synctest.Wait()
		if calls != 0 {
			t.Errorf("the stalled handler got %d calls, want 0", calls)
		}
		if others != updates {
			t.Errorf("the other handler got %d calls, want %d", others, updates)
		}
		if n := pods.alive(); n < updates {
			t.Errorf("%d pods are alive, want at least %d", n, updates)
		}
		close(release)
		synctest.Wait()
		if calls != updates {
			t.Errorf("the handler got %d calls after the stall, want %d", calls, updates)
		}
	})
}
