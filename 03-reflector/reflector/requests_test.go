// The requests of a reflector: their pauses, their timeouts, and panics while they run.

package reflector

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// A pause is twice as long as the pause before it, up to half a minute, plus a random time of up to
// as much again. After every two minutes, pauses begin with the shortest one again, even if the
// server still refuses all requests.
func TestPausesGrow(t *testing.T) {
	for _, test := range []struct {
		refused string
		err     error
	}{{"LIST", errRefused}, {"WATCH", errRefused}, {"WATCH", apierrors.NewTooManyRequestsError("not now")}} {
		testBoth(t, func(t *testing.T, _ string, run runFunc) {
			begin := time.Now()
			var asked []time.Time // the times of the requests that were refused
			refuse := func() error {
				asked = append(asked, time.Now())
				return test.err
			}
			lists := 0
			list := func(o metav1.ListOptions) (runtime.Object, error) {
				lists++
				return emptyList(o)
			}
			if test.refused == "LIST" {
				list = func(metav1.ListOptions) (runtime.Object, error) { return nil, refuse() }
			}
			watches := func(metav1.ListOptions) (watch.Interface, error) { return nil, refuse() }
			runFor(t, time.Hour, run, plainListWatch(list, watches), newStore())
			checkPauses(t, test.refused, begin, asked)
			if test.refused == "WATCH" && lists != 1 {
				t.Errorf("%d lists while each WATCH gets %v, want 1", lists, test.err)
			}
		})
	}
}

// checkPauses checks the pauses between requests of a reflector that was started at begin.
func checkPauses(t *testing.T, kind string, begin time.Time, requests []time.Time) {
	t.Helper()
	if len(requests) <= 60 {
		t.Errorf("%d requests of kind %s in an hour, want more than 60", len(requests), kind)
	}
	reset := begin // the time at which pauses began with the shortest one
	expected := defaultBackoffInit
	longest := expected
	random := map[time.Duration]bool{} // the random parts of the pauses
	for i, request := range requests {
		if i > 0 {
			pause := request.Sub(requests[i-1])
			if pause < expected || pause > 2*expected {
				t.Errorf("%s, pause %d: %v, want %v to %v", kind, i, pause, expected, 2*expected)
			}
			random[pause-expected] = true
			expected = min(2*expected, defaultBackoffMax)
		}
		if request.Sub(reset) > defaultBackoffReset {
			reset = request
			expected = defaultBackoffInit
		}
		longest = max(longest, expected)
	}
	if len(random) < len(requests)/2 {
		t.Errorf("%s: %d pauses have %d different random parts, want more", kind, len(requests)-1, len(random))
	}
	if longest != defaultBackoffMax {
		t.Errorf("%s: the longest pause is %v without its random part, want %v", kind, longest, defaultBackoffMax)
	}
}

// A reflector asks for watches with timeouts of five to ten minutes.
func TestTimeoutsOfWatches(t *testing.T) {
	testBoth(t, func(t *testing.T, _ string, run runFunc) {
		timeouts := map[int64]bool{} // in seconds
		runFor(t, time.Hour, run, plainListWatch(emptyList, func(o metav1.ListOptions) (watch.Interface, error) {
			timeouts[*o.TimeoutSeconds] = true
			w := watch.NewFake()
			time.AfterFunc(time.Minute, w.Stop)
			return w, nil
		}), newStore())
		for timeout := range timeouts {
			if timeout < 300 || timeout > 600 {
				t.Errorf("a watch with a timeout of %d s, want 300 s to 600 s", timeout)
			}
		}
		if len(timeouts) < 10 {
			t.Errorf("%d different timeouts in an hour (%v), want at least 10", len(timeouts), timeouts)
		}
	})
}

// The reflector calls its ListerWatcher on another goroutine. A caller of the reflector can still
// recover from a panic of the ListerWatcher.
func TestAPanicOfTheSourceReachesTheCaller(t *testing.T) {
	testBoth(t, func(t *testing.T, name string, run runFunc) {
		defer func() {
			if got := recover(); got != "no list" {
				t.Errorf("%s: recovered %v, want %q", name, got, "no list")
			}
		}()
		list := func(metav1.ListOptions) (runtime.Object, error) { panic("no list") }
		run(t.Context(), plainListWatch(list, nil), newStore())
		t.Errorf("the reflector %s has returned, want a panic", name)
	})
}
