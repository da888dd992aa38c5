// Tests that count the objects that a stalled handler keeps in memory.

package main

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/06-processor/processor/fanouttest"
	"example.com/informer/scripts/harness/fakeapi"
)

func TestWhatAStalledHandlerKeepsAlive(t *testing.T) {
	if kept := fanouttest.Kept(processor.NewChannels()); kept < fanouttest.Updates {
		t.Errorf("the channels keep %d pods, want at least %d", kept, fanouttest.Updates)
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
		load := fanouttest.Workload{Distribute: func(n processor.Notification) {
			w.Modify(n.New.(*corev1.Pod)) // for an unknown pod, the informer makes an add of it
		}}
		load.Add()
		load.Update()
		synctest.Wait()
		if calls != 0 {
			t.Errorf("the stalled handler got %d calls, want 0", calls)
		}
		if others != fanouttest.Updates {
			t.Errorf("the other handler got %d calls, want %d", others, fanouttest.Updates)
		}
		if n := load.Alive(); n < fanouttest.Updates {
			t.Errorf("%d pods are alive, want at least %d", n, fanouttest.Updates)
		}
		close(release)
		synctest.Wait()
		if calls != fanouttest.Updates {
			t.Errorf("the handler got %d calls after the stall, want %d", calls, fanouttest.Updates)
		}
	})
}
