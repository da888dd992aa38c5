// Tests of common mistakes, with client-go's informer and with our processor.

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
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// onAdd returns a handler that calls action in OnAdd. done is closed when action has returned.
func onAdd(action func()) (handler cache.ResourceEventHandler, done chan struct{}) {
	done = make(chan struct{})
	return cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		defer close(done)
		action()
	}}, done
}

// waitsADay reports whether a channel is still open after a day.
func waitsADay(done <-chan struct{}) bool {
	select {
	case <-done:
		return false
	case <-time.After(24 * time.Hour):
		return true
	}
}

// inBackground calls a function in a goroutine. It closes the channel when the function has
// returned.
func inBackground(call func()) <-chan struct{} {
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		call()
	}()
	return returned
}

func TestStopDoesNotReturnWhileAHandlerWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processor.New(processor.NewChannels())
		p.Start()
		defer p.Stop()
		handler, done := onAdd(func() {
			if !waitsADay(inBackground(p.Stop)) {
				t.Error("Stop has returned before the handler")
			}
		})
		_, err := p.Add(handler, processor.Options{})
		must.NoError(t, err)
		p.Distribute(added(newPod("pod1", "Pending")))
		<-done
	})
}

func TestClientGosRunDoesNotReturnWhileAHandlerWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := newInformer(fakeapi.New(newPod("pod1", "Pending")))
		begin := make(chan func(), 1)
		handler, done := onAdd(func() {
			if !waitsADay(inBackground(<-begin)) {
				t.Error("RunWithContext has returned before the handler")
			}
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
				if err := cache.ShutDownEventHandler(informer, <-begin); err != nil {
					t.Errorf("ShutDownEventHandler() = %v, want nil", err)
				}
			})
			if !waitsADay(left) {
				t.Error("ShutDownEventHandler has returned before the handler")
			}
		})
		begin <- join(t, informer, handler)
		start(t, informer)
		<-done
	})
}

func TestHandlersAreHandedTheSameObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processor.New(processor.NewChannels())
		p.Start()
		defer p.Stop()
		pod := newPod("pod1", "Pending")
		changer := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { obj.(*corev1.Pod).Status.Phase = "Mine" }}
		lines := newLines()
		for _, handler := range []cache.ResourceEventHandler{changer, recorder(lines, nil)} {
			present := slices.Values([]processor.Notification{added(pod)})
			_, err := p.Add(handler, processor.Options{Present: present})
			must.NoError(t, err)
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
		if n := queue.Len(); n != 2 {
			t.Errorf("Len() = %d, want 2", n)
		}
	})
}

// logged returns the log of client-go after ten seconds, with a handler that takes some time for each
// of some pods.
func logged(t *testing.T, verbosity string, takes time.Duration, pods int) string {
	defer klog.CaptureState().Restore()
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"v": verbosity, "logtostderr": "false"} {
		must.NoError(t, flags.Set(name, value))
	}
	var log bytes.Buffer
	klog.SetOutput(&log)
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		join(t, informer, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { time.Sleep(takes) }})
		start(t, informer)
		w := server.NextWatch()
		for i := range pods {
			w.Add(newPod(fmt.Sprintf("pod%04d", i), "Pending"))
		}
		time.Sleep(10 * time.Second)
	})
	klog.Flush()
	return log.String()
}

func TestClientGoSaysNothingOfASlowHandlerUnlessItIsVerbose(t *testing.T) {
	const message = "processorListener handler"
	for _, test := range []struct {
		verbosity string
		takes     time.Duration
		pods      int
		want      bool
	}{
		{"2", 101 * time.Millisecond, 1100, true},
		{"1", 101 * time.Millisecond, 1100, false},
		{"2", 99 * time.Millisecond, 1100, false},
		{"2", 101 * time.Millisecond, 1024, false},
		{"2", time.Minute, 1100, false}, // no call has returned
	} {
		log := logged(t, test.verbosity, test.takes, test.pods)
		if got := strings.Contains(log, message); got != test.want {
			t.Errorf("-v=%s, %d pods, %v for each: the log contains %q: %t, want %t:\n%s",
				test.verbosity, test.pods, test.takes, message, got, test.want, log)
		}
	}
}

// takesHandler is an informer that remembers its last handler.
type takesHandler struct {
	cache.SharedIndexInformer
	handler cache.ResourceEventHandler
}

func (h *takesHandler) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (
	cache.ResourceEventHandlerRegistration, error) {
	h.handler = handler
	return nil, nil
}

// A tombstone may have a Key and no object.
func TestATypedFilterMayGetNil(t *testing.T) {
	var informer takesHandler
	asked := 0
	_, err := cache.NewTypedSharedIndexInformer[*corev1.Pod](&informer).AddTypedEventHandler(
		cache.TypedFilteringResourceEventHandler[*corev1.Pod]{FilterFunc: func(pod *corev1.Pod) bool {
			asked++
			if pod != nil {
				t.Errorf("the filter gets %v, want nil", pod)
			}
			return false
		}})
	must.NoError(t, err)
	informer.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/pod1"})
	if asked != 1 {
		t.Errorf("the filter was called %d times, want once", asked)
	}
}
