// The counts of goroutines and open files.

package scenario

import (
	"context"
	"runtime/pprof"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/usage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Including those that one of its goroutines has started.
func TestGoroutinesAreCountedByInstance(t *testing.T) {
	over, ended := make(chan struct{}), make(chan struct{})
	pprof.Do(t.Context(), pprof.Labels(label, "one"), func(context.Context) {
		go func() {
			go func() { <-over; close(ended) }()
			<-over
		}()
	})
	s := &Scenario{Scale: Scale{Timeout: time.Minute}}
	want := func(instance string, n int) {
		t.Helper()
		var got int
		err := s.Until(t.Context(), "the count is right", func() bool {
			got = usage.Goroutines(label, instance)
			return got == n
		})
		if err != nil {
			t.Errorf("%s has %d goroutines, want %d", instance, got, n)
		}
	}
	want("one", 2)
	want("on", 0)
	close(over)
	<-ended
	want("one", 0)
}

func TestOpenFilesAreCounted(t *testing.T) {
	before, err := openFiles()
	if err != nil || before == 0 {
		t.Errorf("%d, %v", before, err)
	}
}
