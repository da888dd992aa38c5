// A claim of the page docs/08-controllers.md about two calls of AddAfter for one key.

package main

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// The key comes at the earlier time, and not again at the later one.
func TestAKeyWithTwoTimesComesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedDelayingQueue[string]()
		start := time.Now()
		queue.AddAfter("a", 10*time.Minute)
		queue.AddAfter("a", 30*time.Second)
		key, _ := queue.Get()
		queue.Done(key)
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("the key came after %v, want %v", took, 30*time.Second)
		}
		time.AfterFunc(time.Hour, queue.ShutDown)
		if key, shutdown := queue.Get(); !shutdown {
			t.Errorf("after %v, Get() = %q, want nothing until the shutdown", time.Since(start), key)
		}
	})
}
