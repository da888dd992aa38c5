// An outage that is so long that the watch cannot be resumed.

package informer

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

// While the server refuses connections, the pauses between two tries to resume
// the watch grow. When it is there again, the watch has expired. Client-go's
// next pause, now before a list, is longer still: it has one count for both.
// Ours has one for each, and lists as soon as after any other end of a watch.
func TestAfterAnOutageTheListIsNotDueLater(t *testing.T) {
	for name, limits := range map[string][2]time.Duration{
		"ours":      {800 * time.Millisecond, 1600 * time.Millisecond},
		"client-go": {12_800 * time.Millisecond, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if pause := pauseAfter(t, implementations[name], time.Minute); pause < limits[0] || pause > limits[1] {
					t.Errorf("a list %v after the watch had expired, want %v to %v", pause, limits[0], limits[1])
				}
			})
		})
	}
}

// pauseAfter is the time from an expired watch after an outage to the next list.
func pauseAfter(t *testing.T, newInformer maker, outage time.Duration) time.Duration {
	r := newRig(newInformer, options(), configMap("a", "1"))
	watchIt, down := r.server.WatchFuncWithContext, time.Time{}
	r.server.WatchFuncWithContext = func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		if time.Since(down) < outage {
			return nil, syscall.ECONNREFUSED
		}
		return watchIt(ctx, options)
	}
	r.run(t)
	w := r.server.NextWatch()
	w.Modify(configMap("a", "2"))
	synctest.Wait()
	down = time.Now()
	w.Stop()
	fakeapi.Expire(r.server.NextWatch())
	expired := time.Now()
	r.server.NextWatch() // it comes right after the list
	if lists := r.server.Lists(); lists != 2 {
		t.Errorf("%d lists, want the first one and another", lists)
	}
	return time.Since(expired)
}
