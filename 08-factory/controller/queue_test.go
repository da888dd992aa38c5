// What the page says of client-go's work queue.

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
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

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
				expect.That(t, !busy[key].Swap(true), "two workers have key %d", key)
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
	n := handled.Load()
	expect.That(t, n >= 10 && n <= 100_000, "%d keys were handled", n)
}

func TestTheDefaultRateLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
		first := limiter.When("key")
		expect.That(t, first == 5*time.Millisecond, "the first pause is %v", first)
		for range 30 {
			limiter.When("key")
		}
		last := limiter.When("key")
		expect.That(t, last == 1000*time.Second, "the longest pause is %v", last)
		time.Sleep(time.Hour) // the bucket is full again
		start := time.Now()
		for i := range 120 {
			when := limiter.When(string(rune('a' + i))) // each key for the first time
			if slow := when > 5*time.Millisecond; slow != (i >= 100) {
				t.Fatalf("key %d waits %v", i, when)
			}
			expect.That(t, i != 119 || (when >= 1900*time.Millisecond && when <= 2100*time.Millisecond),
				"twenty keys over a hundred: the last waits %v, want 2 s", when)
		}
		expect.That(t, time.Since(start) == 0, "the questions took time")
	})
}

// Each call takes from the bucket that all keys share, for a key that waits already, too.
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
		if queue.Get(); time.Since(start) < 90*time.Second {
			t.Errorf("another key has waited %v, want 100 s", time.Since(start))
		}
	})
}

// An Add does not wait for the end of a pause. AddAfter is no failure, and Done forgets none.
func TestAddAndAddAfterBesideAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Minute, time.Hour))
		defer queue.ShutDown()
		start := time.Now()
		want := func(after time.Duration, failures int) {
			t.Helper()
			key, _ := queue.Get()
			queue.Done(key)
			if took, n := time.Since(start), queue.NumRequeues(key); took != after || n != failures {
				t.Errorf("%s came after %v with %d failures, want %v, %d", key, took, n, after, failures)
			}
		}
		queue.AddRateLimited("a")
		queue.Add("a")
		want(0, 1)
		want(time.Minute, 1)
		queue.AddAfter("a", time.Second)
		want(time.Minute+time.Second, 1)
		queue.AddRateLimited("a")
		want(3*time.Minute+time.Second, 2)
		queue.Forget("a")
		queue.AddRateLimited("a")
		want(4*time.Minute+time.Second, 1)
	})
}

// A queue that is shut down takes no key, and still gives those that wait, the oldest first. It does not give a key
// again that is not done.
func TestAQueueThatIsShutDown(t *testing.T) {
	queue, got := workqueue.NewTyped[string](), []string{}
	queue.Add("not done")
	queue.Get()
	queue.Add("not done")
	queue.Add("b")
	queue.Add("a")
	queue.ShutDown()
	queue.Add("c")
	for key, over := queue.Get(); !over; key, over = queue.Get() {
		got = append(got, key)
	}
	expect.That(t, slices.Equal(got, []string{"b", "a"}), "it gave %q", got)
}

func TestOnlyShutDownWithDrainWaitsForAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drained, queue := workqueue.NewTyped[string](), workqueue.NewTyped[string]()
		for _, q := range []*workqueue.Typed[string]{drained, queue} {
			q.Add("a")
			q.Get()
			time.AfterFunc(time.Minute, func() { q.Done("a") })
		}
		start := time.Now()
		queue.ShutDown()
		expect.That(t, time.Since(start) == 0, "ShutDown has waited %v", time.Since(start))
		drained.ShutDownWithDrain()
		expect.That(t, time.Since(start) == time.Minute, "ShutDownWithDrain has waited %v", time.Since(start))
	})
}

// The goroutine that waits with the delayed keys ends with ShutDown.
// ShutDownWithDrain alone leaves it until it looks at the clock again.
func TestShutDownAfterShutDownWithDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func() bool {
			synctest.Wait()
			stacks := make([]byte, 1<<20)
			for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
				header, calls, _ := strings.Cut(stack, "\n")
				// That of another test's queue may be on its way out.
				if strings.Contains(header, "synctest bubble") && strings.Contains(calls, "waitingLoop") {
					return true
				}
			}
			return false
		}
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		synctest.Wait() // until it waits
		queue.ShutDownWithDrain()
		expect.That(t, waits(), "ShutDownWithDrain ends it by now: the line after it in notices.go can go")
		queue.ShutDown()
		expect.That(t, !waits(), "it is still there after ShutDown")
	})
}

// That it is imported is enough. (The step manager does.)
func TestControllerRuntimeMeasures(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "mail"})
	defer queue.ShutDown()
	queue.Add("key")
	clientmetrics.RequestResult.Increment(t.Context(), "200", "GET", "server") // as each request does
	families, err := metrics.Registry.Gather()
	must.Do(t, err)
	var text strings.Builder
	for _, family := range families {
		expfmt.MetricFamilyToText(&text, family)
	}
	for _, want := range []string{`workqueue_depth{controller="mail",name="mail",priority=""} `,
		`rest_client_requests_total{code="200",host="server",method="GET"} `} {
		expect.That(t, strings.Contains(text.String(), "\n"+want), "there is no %s in\n%s", want, &text)
	}
}
