// What a stalled handler keeps in memory, counted object by object.

package main

import (
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/fakeserver"
	"example.com/informer/06-processor/processor"
)

// many is enough updates for our way to fold.
const many = 20_000

// remembered are pods that nobody needs to keep.
type remembered []weak.Pointer[corev1.Pod]

func (r *remembered) add(n processor.Notification) {
	*r = append(*r, weak.Make(n.New.(*corev1.Pod)))
}

// alive is how many of them cannot be freed.
func (r *remembered) alive() (n int) {
	runtime.GC()
	for _, pod := range *r {
		if pod.Value() != nil {
			n++
		}
	}
	return n
}

func TestWhatAStalledHandlerKeepsAlive(t *testing.T) {
	alive := map[string]int{}
	for _, way := range ways {
		var pods remembered
		fanout := way.newFanout()
		listener := fanout.Listen(nil)
		fleet := newFleet(func(n processor.Notification) { pods.add(n); fanout.Distribute(n) })
		take(listener, objects)
		fleet.change(many)
		alive[way.name] = pods.alive()
		listener.Close()
	}
	t.Logf("of %d pods: %v", objects+many, alive)
	if n := alive["client-go's way"]; n < many {
		t.Errorf("client-go's way keeps %d pods, want all", n)
	}
	if n := alive["our way"]; n > 2*objects+2*256 { // the old and the new one of each, and two chunks of the log
		t.Errorf("our way keeps %d pods, want about %d", n, 2*objects)
	}
}

func TestClientGoHoldsEveryNotificationForAStalledHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		informer := newInformer(server)
		release, calls, others := make(chan struct{}), 0, 0
		join(t, informer, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { <-release; calls++ }})
		join(t, informer, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { others++ }})
		start(t, informer)
		w := server.NextWatch()
		var pods remembered
		fleet := newFleet(func(n processor.Notification) {
			pods.add(n)
			w.Modify(n.New.(*corev1.Pod)) // of an unknown pod: an add
		})
		fleet.change(many)
		synctest.Wait()
		if n := pods.alive(); calls != 0 || others != many || n < many {
			t.Errorf("calls: %d of the stalled handler, %d of the other, and %d pods are alive; want 0, %d and all "+
				"of %d",
				calls, others, n, many, objects+many)
		}
		close(release)
		synctest.Wait()
		if calls != many {
			t.Errorf("%d calls after the stall, want %d", calls, many)
		}
	})
}
