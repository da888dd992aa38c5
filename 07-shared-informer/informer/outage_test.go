// A test of an outage that is so long that the watch cannot be resumed.

package informer_test

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/scripts/harness/fakeapi"
)

// While the server refuses connections, the pauses between two tries to resume the watch grow.
// After the outage, the watch has expired. In client-go, lists and watches share one backoff: the
// pause before the list is even longer. Our reflector has a backoff for each of them, and the pause
// before the list is as short as after any other end of a watch.
func TestAfterAnOutageTheListIsNotDueLater(t *testing.T) {
	for name, want := range each(map[string]struct{ min, max time.Duration }{
		"ours":      {min: 800 * time.Millisecond, max: 1600 * time.Millisecond},
		"client-go": {min: 12_800 * time.Millisecond, max: time.Minute},
	}) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pause := pauseAfter(t, implementations[name], time.Minute)
				if pause < want.min || pause > want.max {
					t.Errorf("the list came %v after the watch had expired, want %v to %v", pause, want.min, want.max)
				}
			})
		})
	}
}

// pauseAfter returns the time between the expired watch after an outage and the next list.
func pauseAfter(t *testing.T, newInformer maker, outage time.Duration) time.Duration {
	r := newRig(newInformer, options(), configMap("a", "1"))
	watchServer := r.server.WatchFuncWithContext
	var down time.Time // the beginning of the outage
	r.server.WatchFuncWithContext = func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		if time.Since(down) < outage {
			return nil, syscall.ECONNREFUSED
		}
		return watchServer(ctx, options)
	}
	r.run(t)
	w := r.server.NextWatch()
	w.Modify(configMap("a", "2"))
	synctest.Wait()
	down = time.Now()
	w.Stop()
	fakeapi.Expire(r.server.NextWatch())
	expired := time.Now()
	r.server.NextWatch() // right after the list
	if lists := r.server.Lists(); lists != 2 {
		t.Errorf("Lists() = %d, want 2", lists)
	}
	return time.Since(expired)
}
