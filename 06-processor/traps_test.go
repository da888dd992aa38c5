// Where people trip, with client-go's informer and with our processor.

package main

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// onAdd is a handler that does something in OnAdd; done is closed when it has.
func onAdd(do func()) (handler cache.ResourceEventHandler, done chan struct{}) {
	done = make(chan struct{})
	return cache.ResourceEventHandlerFuncs{AddFunc: func(any) { defer close(done); do() }}, done
}

// waitsADay is whether something is not over after a day.
func waitsADay(over <-chan struct{}) bool {
	select {
	case <-over:
		return false
	case <-time.After(24 * time.Hour):
		return true
	}
}

// inBackground calls, and closes the channel when the call has returned.
func inBackground(call func()) <-chan struct{} {
	returned := make(chan struct{})
	go func() { defer close(returned); call() }()
	return returned
}

func TestStopDoesNotReturnWhileAHandlerWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processor.New(processor.NewLog())
		p.Start()
		defer p.Stop()
		handler, done := onAdd(func() {
			expect.That(t, waitsADay(inBackground(p.Stop)), "Stop has returned, and the handler has not")
		})
		_, err := p.Add(handler, processor.Options{})
		must.Do(t, err)
		p.Distribute(added(newPod("pod1", "Pending")))
		<-done
	})
}

func TestClientGosRunDoesNotReturnWhileAHandlerWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := newInformer(fakeapi.New(newPod("pod1", "Pending")))
		begin := make(chan func(), 1)
		handler, done := onAdd(func() {
			expect.That(t, waitsADay(inBackground(<-begin)), "Run has returned, and the handler has not")
		})
		join(t, informer, handler)
		begin <- start(t, informer)
		<-done
	})
}

func TestShutDownEventHandlerDoesNotReturnInsideTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := newInformer(fakeapi.New(newPod("pod1", "Pending")))
		begin := make(chan cache.ResourceEventHandlerRegistration, 1)
		handler, done := onAdd(func() {
			left := inBackground(func() {
				err := cache.ShutDownEventHandler(informer, <-begin)
				expect.That(t, err == nil, "%v", err)
			})
			expect.That(t, waitsADay(left), "ShutDownEventHandler has returned, and the handler has not")
		})
		begin <- join(t, informer, handler)
		start(t, informer)
		<-done
	})
}

func TestHandlersAreHandedTheSameObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processor.New(processor.NewLog())
		p.Start()
		defer p.Stop()
		pod := newPod("pod1", "Pending")
		changer := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { obj.(*corev1.Pod).Status.Phase = "Mine" }}
		lines := newLines()
		for _, handler := range []cache.ResourceEventHandler{changer, recorder(lines, nil)} {
			present := slices.Values([]processor.Notification{added(pod)})
			_, err := p.Add(handler, processor.Options{Present: present})
			must.Do(t, err)
			synctest.Wait()
		}
		p.Distribute(updated(pod, newPod("pod1", "Running")))
		wantLines(t, lines, "OnAdd pod1 Mine", "OnUpdate from pod1 Mine", "to pod1 Running")
	})
}

func TestAWorkQueueHoldsEachKeyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		defer queue.ShutDown()
		for range 1000 {
			queue.Add("default/pod1")
			queue.Add("default/pod2")
		}
		n := queue.Len()
		expect.That(t, n == 2, "%d keys wait, want 2", n)
	})
}

// logged is what client-go logs of a handler that takes a second for each of
// 1,100 pods, by the time that it has returned ten times.
func logged(t *testing.T, verbosity string) string {
	defer klog.CaptureState().Restore()
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"v": verbosity, "logtostderr": "false"} {
		must.Do(t, flags.Set(name, value))
	}
	var log bytes.Buffer
	klog.SetOutput(&log)
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		join(t, informer, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { time.Sleep(time.Second) }})
		start(t, informer)
		w := server.NextWatch()
		for i := range 1100 {
			w.Add(newPod(fmt.Sprintf("pod%04d", i), "Pending"))
		}
		time.Sleep(10 * time.Second)
	})
	klog.Flush()
	return log.String()
}

func TestClientGoSaysNothingOfASlowHandlerUnlessItIsVerbose(t *testing.T) {
	const says = "processorListener handler"
	log := logged(t, "0")
	expect.That(t, !strings.Contains(log, says), "with -v=0 it logs\n%s", log)
	log = logged(t, "2")
	expect.That(t, strings.Contains(log, says), "with -v=2 it does not log %q, but\n%s", says, log)
}
