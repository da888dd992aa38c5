// What a stalled handler keeps in memory, counted object by object.

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
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
)

const (
	objects = 100
	many    = 20_000 // updates, enough for the log to fold
)

// changes are pods that are added, and then updated in turn.
type changes struct {
	distribute func(processor.Notification)
	newest     [objects]*corev1.Pod
}

func (c *changes) add() {
	for i := range c.newest {
		c.newest[i] = newPod(fmt.Sprintf("pod%02d", i), "Running")
		c.distribute(added(c.newest[i]))
	}
}

func (c *changes) update() {
	for i := range many {
		old := c.newest[i%objects]
		c.newest[i%objects] = old.DeepCopy()
		c.distribute(updated(old, c.newest[i%objects]))
	}
}

// weakPods are pods that nobody needs to keep.
type weakPods []weak.Pointer[corev1.Pod]

func (r *weakPods) add(n processor.Notification) {
	*r = append(*r, weak.Make(n.New.(*corev1.Pod)))
}

// alive is how many of them cannot be freed.
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
		world := changes{distribute: func(n processor.Notification) { pods.add(n); fanout.Distribute(n) }}
		world.add()
		for taken := 0; taken < objects; {
			taken += len(listener.Next())
		}
		world.update()
		return pods.alive()
	}
	channels, log := keeps(processor.NewChannels()), keeps(processor.NewLog())
	t.Logf("of %d pods, the channels keep %d, the log keeps %d", objects+many, channels, log)
	expect.That(t, channels >= many, "the channels keep %d pods, want all", channels)
	if log > 2*objects+2*256 { // the old and the new one of each, and two chunks of the log
		t.Errorf("the log keeps %d pods, want about %d", log, 2*objects)
	}
}

func TestClientGoHoldsEveryNotificationForAStalledHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		release, calls, others := make(chan struct{}), 0, 0
		join(t, informer, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { <-release; calls++ }})
		join(t, informer, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { others++ }})
		start(t, informer)
		w := server.NextWatch()
		var pods weakPods
		world := changes{distribute: func(n processor.Notification) {
			pods.add(n)
			w.Modify(n.New.(*corev1.Pod)) // of an unknown pod: an add
		}}
		world.add()
		world.update()
		synctest.Wait()
		if n := pods.alive(); calls != 0 || others != many || n < many {
			t.Errorf("calls: %d of the stalled handler, %d of the other, and %d pods are alive; want 0, %d and all "+
				"of %d", calls, others, n, many, objects+many)
		}
		close(release)
		synctest.Wait()
		expect.That(t, calls == many, "%d calls after the stall, want %d", calls, many)
	})
}
