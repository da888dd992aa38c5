// The requests of a reflector: when it sends them, and what it asks for.

package reflector

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/scripts/harness/expect"
)

// A pause is twice as long as the last, up to half a minute, and longer by up to as
// much again. Every two minutes it begins anew, even if nothing has become better.
func TestPausesGrow(t *testing.T) {
	for _, refused := range []string{"LIST", "WATCH"} {
		both(t, func(t *testing.T, _ string, run runFunc) {
			asked, anew, shortest := time.Time{}, time.Now(), defaultBackoffInit
			pauses, longest := 0, shortest
			ask := func() error {
				if pause := time.Since(asked); !asked.IsZero() {
					expect.That(t, pause >= shortest && pause <= 2*shortest,
						"%s, pause %d: %v, want %v to %v", refused, pauses, pause, shortest, 2*shortest)
					pauses++
					shortest = min(2*shortest, defaultBackoffMax)
				}
				if asked = time.Now(); asked.Sub(anew) > defaultBackoffReset {
					anew, shortest = asked, defaultBackoffInit
				}
				longest = max(longest, shortest)
				return errRefused
			}
			list := empty
			if refused == "LIST" {
				list = func(metav1.ListOptions) (runtime.Object, error) { return nil, ask() }
			}
			watches := func(metav1.ListOptions) (watch.Interface, error) { return nil, ask() }
			runFor(t, time.Hour, run, plain(list, watches), newStore())
			expect.That(t, pauses >= 60 && longest == defaultBackoffMax,
				"%s: %d pauses of up to %v and as much again", refused, pauses, longest)
		})
	}
}

// A watch is asked for with a timeout of five to ten minutes.
func TestTimeoutsOfWatches(t *testing.T) {
	both(t, func(t *testing.T, _ string, run runFunc) {
		timeouts := map[int64]bool{}
		runFor(t, time.Hour, run, plain(empty, func(o metav1.ListOptions) (watch.Interface, error) {
			timeouts[*o.TimeoutSeconds] = true
			w := watch.NewFake()
			time.AfterFunc(time.Minute, w.Stop)
			return w, nil
		}), newStore())
		for timeout := range timeouts {
			expect.That(t, timeout >= 300 && timeout <= 600, "%d seconds", timeout)
		}
		expect.That(t, len(timeouts) >= 10, "hardly random: %v", timeouts)
	})
}

// A caller can recover from a panic of its own source, which is called on another
// goroutine.
func TestAPanicOfTheSourceReachesTheCaller(t *testing.T) {
	both(t, func(t *testing.T, name string, run runFunc) {
		defer func() {
			got := recover()
			expect.That(t, got == "no list", "%s: recovered %v", name, got)
		}()
		run(t.Context(), plain(func(metav1.ListOptions) (runtime.Object, error) { panic("no list") }, nil), newStore())
		t.Errorf("%s has returned", name)
	})
}
