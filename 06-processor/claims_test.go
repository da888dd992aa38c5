// Tests of what the pages docs/06-processor*.md say about client-go, on the pinned version. They
// need no server, and run in fake time.

package main

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/buffer"

	"example.com/informer/06-processor/processor"
	"example.com/informer/06-processor/processor/fanouttest"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// newInformer makes a shared informer of client-go.
func newInformer(server *fakeapi.Server) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformerWithOptions(server, &corev1.Pod{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}})
}

// start runs an informer until the test is over, or stop is called. stop waits for the end of the
// run.
func start(t *testing.T, informer cache.SharedIndexInformer) (stop func()) {
	return must.Run(t, informer.RunWithContext)
}

func join(t *testing.T, informer cache.SharedInformer,
	handler cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	t.Helper()
	registration, err := informer.AddEventHandler(handler)
	must.NoError(t, err)
	return registration
}

// wantLines waits until all goroutines are blocked, and checks the recorded lines.
func wantLines(t *testing.T, lines chan string, want ...string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for range len(lines) {
		got = append(got, <-lines)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the handler recorded %q, want %q", got, want)
	}
}

// waits returns a handler that waits in each OnAdd until release is closed.
func waits(release <-chan struct{}, lines chan<- string) cache.ResourceEventHandler {
	return recorder(lines, func(*corev1.Pod) { <-release })
}

func TestClientGosSourceSays(t *testing.T) {
	must.FindInClientGo(t, "shared_informer.go",
		"using three goroutines, two unbuffered channels, and an unbounded ring buffer",
		"a failing/stalled listener will have infinite pendingNotifications added until we OOM",
		"This is no worse than before, since reflectors were backed by unbounded DeltaFIFOs, but we should try to "+
			"do something better",
		"initialBufferSize = 1024",
		"now time.Time, bufferSize int, hasSynced DoneChecker",
		"*buffer.NewRingGrowing(bufferSize)",
		"func (p *sharedProcessor) distribute(obj interface{}, sync bool)",
		"p.listeners[listener] = true",
		"Before we start blocking on writes to the listeners' channels, ensure that they all have been started",
		"Optimize the case - skip adding to pendingNotifications",
		"processing them with `sharedIndexInformer::HandleDeltas`",
		"func newProcessListener(logger klog.Logger, handler ResourceEventHandler",
		"This only applies if utilruntime is configured to not panic, which is not the default",
		"Goroutines processing the remaining events may still be running and invoking callbacks after this function "+
			"returns",
		"blockDeltas gives a way to stop all event distribution so that a late event handler can safely join the "+
			"shared informer")
}

// Up to client-go 0.33, a ring of size 0 divided by zero at the first write.
func TestARingOfSizeZeroGrows(t *testing.T) {
	//lint:ignore SA1019 newProcessListener makes its ring with it
	ring := buffer.NewRingGrowing(0)
	var sizes []int
	for i := range 17 {
		ring.WriteOne(i)
		sizes = append(sizes, ring.Cap())
	}
	wantSizes := append(slices.Repeat([]int{16}, 16), 32)
	if !slices.Equal(sizes, wantSizes) {
		t.Errorf("Cap() after each write = %v, want %v", sizes, wantSizes)
	}
	for i := range 17 {
		got, ok := ring.ReadOne()
		if !ok || got != i {
			t.Errorf("ReadOne() = %v, %t; want %d, true", got, ok, i)
		}
	}
	if size := ring.Cap(); size != 32 {
		t.Errorf("Cap() = %d of the empty ring, want 32: it never shrinks", size)
	}
}

// The second parameter of distribute says that the object has not changed. client-go compares the
// versions. In a resync they are equal.
func TestClientGoDistributesAResyncToHandlersThatAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New(newPod("pod1", "Pending"))
		informer := cache.NewSharedIndexInformerWithOptions(server, &corev1.Pod{},
			cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute})
		due, others := newLines(), newLines()
		for lines, period := range map[chan string]time.Duration{due: time.Minute, others: 0} {
			_, err := informer.AddEventHandlerWithResyncPeriod(recorder(lines, nil), period)
			must.NoError(t, err)
		}
		start(t, informer)
		w := server.NextWatch()
		time.Sleep(90 * time.Second)
		wantLines(t, due, "OnAdd pod1 Pending", "OnUpdate from pod1 Pending", "to pod1 Pending")
		wantLines(t, others, "OnAdd pod1 Pending")
		changed := newPod("pod1", "Running")
		changed.ResourceVersion = "2"
		w.Modify(changed)
		wantLines(t, due, "OnUpdate from pod1 Pending", "to pod1 Running")
		wantLines(t, others, "OnUpdate from pod1 Pending", "to pod1 Running")
	})
}

func TestAHandlerOfClientGosHasTwoGoroutinesAndAThirdUntilItHasSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		server.Fail(errors.New("not yet"))
		informer := newInformer(server)
		join(t, informer, cache.ResourceEventHandlerFuncs{})
		start(t, informer)
		synctest.Wait()
		fanouttest.WantGoroutines(t, 1,
			"(*processorListener).run", "(*processorListener).pop", "(*processorListener).watchSynced")
		server.Set()
		server.NextWatch()
		synctest.Wait()
		fanouttest.WantGoroutines(t, 1, "(*processorListener).run", "(*processorListener).pop")
		fanouttest.WantGoroutines(t, 0, "(*processorListener).watchSynced")
	})
}

func TestClientGoDropsWhatWaitsForARemovedHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		release, lines := make(chan struct{}), newLines()
		registration := join(t, informer, waits(release, lines))
		start(t, informer)
		w := server.NextWatch()
		for _, name := range []string{"pod1", "pod2", "pod3"} {
			w.Add(newPod(name, "Pending"))
		}
		synctest.Wait() // it is busy with pod1
		must.NoError(t, informer.RemoveEventHandler(registration))
		synctest.Wait()
		close(release)
		wantLines(t, lines, "OnAdd pod1 Pending")
	})
}

func TestClientGosRunDropsWhatWaitsAndReturnsAfterTheLastHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		release, lines := make(chan struct{}), newLines()
		join(t, informer, waits(release, lines))
		stop := start(t, informer)
		w := server.NextWatch()
		w.Add(newPod("pod1", "Pending"))
		w.Add(newPod("pod2", "Pending"))
		synctest.Wait() // it is busy with pod1
		ended := inBackground(stop)
		if !waitsADay(ended) {
			t.Error("RunWithContext has returned before the handler")
		}
		close(release)
		<-ended
		wantLines(t, lines, "OnAdd pod1 Pending")
	})
}

func TestWithReallyCrashOffTheCallIsSkippedAndTheNextOneIsASecondLate(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil // nil: do not log it
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		touchy := newLines()
		join(t, informer, recorder(touchy, func(pod *corev1.Pod) {
			if pod.Name == "pod1" {
				panic("ouch")
			}
		}))
		start(t, informer)
		w := server.NextWatch()
		begin := time.Now()
		w.Add(newPod("pod1", "Pending"))
		w.Add(newPod("pod2", "Pending"))
		line, late := <-touchy, time.Since(begin)
		if want := "OnAdd pod2 Pending"; line != want || late != time.Second {
			t.Errorf("%q after %v; want %q after %v", line, late, want, time.Second)
		}
	})
}

func TestHandlersOfClientGosAreHandedTheSameObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		start(t, informer)
		w := server.NextWatch()
		w.Add(newPod("pod1", "Pending"))
		synctest.Wait()
		join(t, informer, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			obj.(*corev1.Pod).Status.Phase = "Mine"
		}})
		synctest.Wait()
		lines := newLines()
		join(t, informer, recorder(lines, nil))
		w.Modify(newPod("pod1", "Running"))
		wantLines(t, lines, "OnAdd pod1 Mine", "OnUpdate from pod1 Mine", "to pod1 Running")
	})
}

func TestAHandlerHasTwoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processor.New(processor.NewChannels())
		p.Start()
		defer p.Stop()
		_, err := p.Add(cache.ResourceEventHandlerFuncs{}, processor.Options{})
		must.NoError(t, err)
		synctest.Wait()
		fanouttest.WantGoroutines(t, 1, "(*Registration).run", "(*channelListener).pop")
	})
}
