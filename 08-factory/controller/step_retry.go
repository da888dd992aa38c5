package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"

	"example.com/informer/scripts/harness/step"
)

// stepRetry is a worker whose keys fail. A key that has failed comes again after a pause. The pause
// grows with each failure of this key, and begins again when it has succeeded. The worker gives up a
// key that always fails, a poison key.
func stepRetry(_ context.Context, env *step.Env) error {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, time.Minute)
	queue := workqueue.NewTypedRateLimitingQueue(limiter)
	defer queue.ShutDown()
	failures := map[string]int{"flaky": 2, "poison": 1000} // how often each key fails before it succeeds
	queue.Add("flaky")

	const maxRetries = 4
	for range 11 {
		key, _ := queue.Get()
		var err error
		if failures[key] > 0 {
			failures[key]--
			err = errors.New("out of luck")
		}
		switch retries := queue.NumRequeues(key); {
		case err == nil:
			queue.Forget(key) // the next failure of this key is its first again
			fmt.Fprintf(env.Out, "%s : done after %d retries, forgotten now: %d\n",
				key, retries, queue.NumRequeues(key))
			if key == "flaky" {
				queue.Add("poison")
				queue.Add("healthy") // succeeds at once, while poison is in its first pause
			}
		case retries == maxRetries:
			queue.Forget(key)
			fmt.Fprintf(env.Out, "%s : given up after %d retries, forgotten now: %d\n",
				key, retries, queue.NumRequeues(key))
			failures["flaky"] = 1 // some time later, it fails once more
			queue.AddAfter("flaky", time.Millisecond)
		default:
			pause := limiter.When(key)
			queue.AddAfter(key, pause) // these two lines are AddRateLimited
			fmt.Fprintf(env.Out, "%s : %v, again in %v\n", key, err, pause)
		}
		queue.Done(key)
	}
	return nil
}
