// Claims of the pages about client-go's work queue.

package main

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	clientmetrics "k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"example.com/informer/scripts/harness/must"
)

// Without Done, the queue keeps a key to itself, and Forget does not change this.
func TestAKeyWithoutDone(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer queue.ShutDown()
	queue.Add("a")
	queue.Get()
	queue.Add("a")
	queue.Forget("a")
	if n := queue.Len(); n != 0 {
		t.Errorf("without Done, the queue has %d keys for workers, want 0", n)
	}
	queue.Done("a")
	if n := queue.Len(); n != 1 {
		t.Errorf("after Done, the queue has %d keys, want 1", n)
	}
	queue.Get()
	queue.Done("a")
	queue.Forget("a")
	if n := queue.Len(); n != 0 {
		t.Errorf("Forget has put %d keys into the queue, want 0", n)
	}
}

func TestNoTwoWorkersHaveTheSameKey(t *testing.T) {
	queue := workqueue.NewTyped[int]()
	var busy [10]atomic.Bool
	var handled atomic.Int32
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for {
				key, shutdown := queue.Get()
				if shutdown {
					return
				}
				if busy[key].Swap(true) {
					t.Errorf("two workers have key %d", key)
				}
				handled.Add(1)
				busy[key].Store(false)
				queue.Done(key)
			}
		})
	}
	for i := range 100_000 {
		queue.Add(i % len(busy))
	}
	queue.ShutDownWithDrain()
	workers.Wait()
	if n := handled.Load(); n < 10 || n > 100_000 {
		t.Errorf("the workers got %d keys, want each of the 10 keys at least once, and at most 100,000", n)
	}
}

func TestTheDefaultRateLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
		if first := limiter.When("key"); first != 5*time.Millisecond {
			t.Errorf("the first pause is %v, want 5ms", first)
		}
		if second := limiter.When("key"); second != 10*time.Millisecond {
			t.Errorf("the second pause is %v, want 10ms", second)
		}
		for range 30 {
			limiter.When("key")
		}
		if longest := limiter.When("key"); longest != 1000*time.Second {
			t.Errorf("the longest pause is %v, want 1000s", longest)
		}
		time.Sleep(time.Hour) // afterwards the bucket is full again
		start := time.Now()
		var pauses []time.Duration // of 120 keys that fail for the first time
		for i := range 120 {
			pauses = append(pauses, limiter.When(string(rune('a'+i))))
		}
		for i, pause := range pauses[:100] {
			if pause > 5*time.Millisecond {
				t.Errorf("key %d has a pause of %v, want at most 5ms: the bucket has 100 tokens", i, pause)
			}
		}
		for i, pause := range pauses[100:] {
			if pause <= 5*time.Millisecond {
				t.Errorf("key %d has a pause of %v, want more than 5ms: the bucket is empty", 100+i, pause)
			}
		}
		if last := pauses[119]; last < 1900*time.Millisecond || last > 2100*time.Millisecond {
			t.Errorf("the last of 20 keys over 100 has a pause of %v, want about 2s", last)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("120 calls of When took %v, want 0: the limiter does not wait itself", took)
		}
	})
}

// Each call takes a token from the bucket that all keys share, even if the key waits already.
func TestAddRateLimitedForEachEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		defer queue.ShutDown()
		for range 1100 {
			queue.AddRateLimited("busy")
		}
		queue.Get()
		start := time.Now()
		queue.AddRateLimited("other")
		queue.Get()
		if took := time.Since(start); took < 90*time.Second {
			t.Errorf("another key has waited %v, want about 100s", took)
		}
	})
}

// Add does not wait for the end of a pause. AddAfter does not count as a failure. Done does not
// reset the count of failures.
func TestAddAndAddAfterBesideAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Minute, time.Hour))
		defer queue.ShutDown()
		start := time.Now()
		wantNext := func(after time.Duration, failures int) {
			t.Helper()
			key, _ := queue.Get()
			queue.Done(key)
			if took := time.Since(start); took != after {
				t.Errorf("the key %s came after %v, want %v", key, took, after)
			}
			if got := queue.NumRequeues(key); got != failures {
				t.Errorf("NumRequeues(%s) = %d, want %d", key, got, failures)
			}
		}
		queue.AddRateLimited("a")
		queue.Add("a")
		wantNext(0, 1)
		wantNext(time.Minute, 1)
		queue.AddAfter("a", time.Second)
		wantNext(time.Minute+time.Second, 1)
		queue.AddRateLimited("a")
		wantNext(3*time.Minute+time.Second, 2)
		queue.Forget("a")
		queue.AddRateLimited("a")
		wantNext(4*time.Minute+time.Second, 1)
	})
}

// Of two times for the same key, the earlier one counts.
func TestTwoTimesForOneKey(t *testing.T) {
	for _, later := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			queue := workqueue.NewTypedDelayingQueue[string]()
			start := time.Now()
			pauses := []time.Duration{time.Second, time.Minute}
			if later {
				slices.Reverse(pauses)
			}
			for _, pause := range pauses {
				queue.AddAfter("a", pause)
			}
			key, _ := queue.Get()
			queue.Done(key)
			if took := time.Since(start); took != time.Second {
				t.Errorf("AddAfter %v: the key came after %v, want %v", pauses, took, time.Second)
			}
			queue.ShutDown()
		})
	}
}

func TestAShutdownDropsKeysInAPause(t *testing.T) {
	for name, shutDown := range map[string]func(workqueue.TypedDelayingInterface[string]){
		"ShutDown":          workqueue.TypedDelayingInterface[string].ShutDown,
		"ShutDownWithDrain": workqueue.TypedDelayingInterface[string].ShutDownWithDrain,
	} {
		synctest.Test(t, func(t *testing.T) {
			queue := workqueue.NewTypedDelayingQueue[string]()
			start := time.Now()
			queue.AddAfter("a", time.Hour)
			time.AfterFunc(time.Minute, func() { shutDown(queue) })
			if key, shutdown := queue.Get(); !shutdown || time.Since(start) != time.Minute {
				t.Errorf("%s: Get() = %q, %t after %v, want the shutdown after 1m", name, key, shutdown,
					time.Since(start))
			}
			time.Sleep(2 * time.Hour) // of the bubble's time
			if n := queue.Len(); n != 0 {
				t.Errorf("%s: after the pause, the queue has %d keys, want 0", name, n)
			}
		})
	}
}

// The first pass asks for another one in an hour. An event adds the same key during this pass, or a
// minute after it. client-go's queue returns the key for both, the priority queue of
// controller-runtime only for the event.
func TestAnEventBesideRequeueAfter(t *testing.T) {
	workQueue := func() workqueue.TypedRateLimitingInterface[string] {
		return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	}
	priorityQueue := func() workqueue.TypedRateLimitingInterface[string] { return priorityqueue.New[string]("test") }
	for _, test := range []struct {
		name     string
		newQueue func() workqueue.TypedRateLimitingInterface[string]
		event    time.Duration
		want     []time.Duration // of the passes after the first one
	}{
		{"client-go, during", workQueue, 0, []time.Duration{0, time.Hour}},
		{"client-go, after", workQueue, time.Minute, []time.Duration{time.Minute, time.Hour}},
		{"controller-runtime, during", priorityQueue, 0, []time.Duration{0}},
		{"controller-runtime, after", priorityQueue, time.Minute, []time.Duration{time.Minute}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := test.newQueue()
				start := time.Now()
				queue.Add("key")
				queue.Get()
				if test.event == 0 {
					queue.Add("key")
				}
				queue.AddAfter("key", time.Hour)
				synctest.Wait() // the priority queue adds keys in a goroutine
				queue.Done("key")
				if test.event > 0 {
					time.AfterFunc(test.event, func() { queue.Add("key") })
				}
				time.AfterFunc(24*time.Hour, queue.ShutDown)
				var got []time.Duration
				for key, shutdown := queue.Get(); !shutdown; key, shutdown = queue.Get() {
					got = append(got, time.Since(start))
					queue.Done(key)
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("the next passes come after %v, want %v", got, test.want)
				}
			})
		})
	}
}

// A queue that is shut down takes no new keys. It still returns the keys that wait, the oldest
// first. It does not return a key again for which Done was not called.
func TestAQueueThatIsShutDown(t *testing.T) {
	queue := workqueue.NewTyped[string]()
	queue.Add("not done")
	queue.Get()
	queue.Add("not done")
	queue.Add("b")
	queue.Add("a")
	queue.Add("b") // it waits already
	queue.ShutDown()
	queue.Add("c")
	var got []string
	for key, shutdown := queue.Get(); !shutdown; key, shutdown = queue.Get() {
		got = append(got, key)
	}
	if want := []string{"b", "a"}; !slices.Equal(got, want) {
		t.Errorf("after ShutDown, Get returns %q, want %q", got, want)
	}
}

// A worker has a key, and another key waits.
func TestOnlyShutDownWithDrainWaitsForAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drained, queue := workqueue.NewTyped[string](), workqueue.NewTyped[string]()
		for _, q := range []*workqueue.Typed[string]{drained, queue} {
			q.Add("a")
			q.Get()
			q.Add("waits")
			time.AfterFunc(time.Minute, func() { q.Done("a") })
		}
		start := time.Now()
		queue.ShutDown()
		if took := time.Since(start); took != 0 {
			t.Errorf("ShutDown has waited %v, want 0", took)
		}
		drained.ShutDownWithDrain()
		if took := time.Since(start); took != time.Minute {
			t.Errorf("ShutDownWithDrain has waited %v, want 1m: until Done", took)
		}
		if n := drained.Len(); n != 1 {
			t.Errorf("after ShutDownWithDrain, %d keys wait, want 1: nobody has taken it", n)
		}
	})
}

// A key for which Done was not called does not come again, even after Forget. A key for which Forget
// was not called keeps its failures, even after Done.
func TestDoneAndForgetDoNotReplaceEachOther(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Hour))
	defer queue.ShutDown()
	queue.AddRateLimited("a")
	queue.Add("a") // an event
	key, _ := queue.Get()
	queue.Add(key)
	if n := queue.Len(); n != 0 {
		t.Errorf("without Done, %d keys wait, want 0", n)
	}
	queue.Done(key)
	if n := queue.Len(); n != 1 {
		t.Errorf("after Done, %d keys wait, want 1", n)
	}
	queue.Get()
	queue.Add(key)
	if n := queue.NumRequeues(key); n != 1 {
		t.Errorf("after Done, the limiter counts %d failures, want 1", n)
	}
	queue.Forget(key)
	if n, failures := queue.Len(), queue.NumRequeues(key); n != 0 || failures != 0 {
		t.Errorf("after Forget and without Done, %d keys wait and %d failures count, want 0 and 0", n, failures)
	}
}

// The goroutine that adds delayed keys ends with ShutDown. After ShutDownWithDrain alone, it runs
// until its next timer, ten seconds at most.
func TestShutDownAfterShutDownWithDrain(t *testing.T) {
	for name, end := range map[string]func(workqueue.TypedRateLimitingInterface[string]){
		"ShutDown":    workqueue.TypedRateLimitingInterface[string].ShutDown,
		"ten seconds": func(workqueue.TypedRateLimitingInterface[string]) { time.Sleep(10 * time.Second) },
	} {
		synctest.Test(t, func(t *testing.T) {
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
			synctest.Wait() // until the goroutine waits
			queue.ShutDownWithDrain()
			if !delayingGoroutineRuns() {
				t.Error("the goroutine has ended with ShutDownWithDrain, want that it needs ShutDown, too")
			}
			end(queue)
			if delayingGoroutineRuns() {
				t.Errorf("the goroutine runs after %s, want that it has ended", name)
			}
		})
	}
}

// delayingGoroutineRuns is true if the synctest bubble has a goroutine that adds delayed keys. The
// goroutine of another test's queue, outside of the bubble, does not count.
func delayingGoroutineRuns() bool {
	synctest.Wait()
	buffer := make([]byte, 1<<20)
	stacks := string(buffer[:runtime.Stack(buffer, true)])
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		header, calls, _ := strings.Cut(stack, "\n")
		if strings.Contains(header, "synctest bubble") && strings.Contains(calls, "waitingLoop") {
			return true
		}
	}
	return false
}

// To import controller-runtime is enough. (The step manager imports it.)
func TestControllerRuntimeMeasures(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "mail"})
	defer queue.ShutDown()
	queue.Add("key")
	clientmetrics.RequestResult.Increment(t.Context(), "200", "GET", "server") // client-go does this for each request
	families, err := metrics.Registry.Gather()
	must.NoError(t, err)
	var text strings.Builder
	for _, family := range families {
		expfmt.MetricFamilyToText(&text, family)
	}
	for _, want := range []string{
		`workqueue_depth{controller="mail",name="mail",priority=""} `,
		`rest_client_requests_total{code="200",host="server",method="GET"} `,
	} {
		if !strings.Contains(text.String(), "\n"+want) {
			t.Errorf("the registry lacks %s:\n%s", want, &text)
		}
	}
}
