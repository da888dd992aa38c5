package processor

import (
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// A handler may call Remove in its last call. It would wait for ever if Stop held the lock.
func TestStopDoesNotHoldTheLockWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(nil)
		busy := make(chan struct{})
		_, err := p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }}, Options{})
		must.NoError(t, err)
		p.Start()
		p.Distribute(Notification{Kind: Added, Key: "a", New: "a"})
		stopped := make(chan struct{})
		synctest.Wait()
		go func() {
			p.Stop()
			close(stopped)
		}()
		synctest.Wait()
		if p.mu.TryLock() {
			p.mu.Unlock()
		} else {
			t.Error("Stop() holds the lock while it waits for a handler, which may call Remove")
		}
		close(busy)
		<-stopped
	})
}
