package bout

import (
	"context"
	"runtime/pprof"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Also those that one of its goroutines has started.
func TestTheGoroutinesOfASubjectAreCounted(t *testing.T) {
	over, ended := make(chan struct{}), make(chan struct{})
	pprof.Do(t.Context(), pprof.Labels(label, "one"), func(context.Context) {
		go func() {
			go func() { <-over; close(ended) }()
			<-over
		}()
	})
	b := &Bout{Scale: Scale{Patience: time.Minute}}
	want := func(subject string, n int) {
		t.Helper()
		var got int
		err := b.Until(t.Context(), "they are so many", func() bool {
			var err error
			got, err = goroutines(subject)
			return err == nil && got == n
		})
		if err != nil {
			t.Errorf("%s has %d goroutines, want %d", subject, got, n)
		}
	}
	want("one", 2)
	want("on", 0)
	close(over)
	<-ended
	want("one", 0)
}

func TestOpenFilesAreCounted(t *testing.T) {
	before, err := descriptors()
	if err != nil || before == 0 {
		t.Errorf("%d, %v", before, err)
	}
}
