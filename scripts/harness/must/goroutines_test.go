package must

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// NoNewGoroutines finds a goroutine that waits, and not one that has only to return.
func TestNoNewGoroutines(t *testing.T) {
	for name, in := range map[string]func(*testing.T, func(*testing.T)){
		"in real time": func(t *testing.T, test func(*testing.T)) { test(t) },
		"in a bubble":  synctest.Test,
	} {
		t.Run(name, func(t *testing.T) { in(t, findsWhatWaits) })
	}
}

func findsWhatWaits(t *testing.T) {
	before := Goroutines()
	var running sync.WaitGroup
	for range 100 {
		running.Go(func() {})
	}
	running.Wait()
	NoNewGoroutines(t, before)

	release := make(chan struct{})
	running.Go(func() { waitFor(release) })
	r := &failureRecorder{TB: t}
	NoNewGoroutines(r, before)
	if got := strings.Join(r.errors, "\n"); !strings.Contains(got, "must.waitFor(") {
		t.Errorf("NoNewGoroutines() found %q, want the goroutine in waitFor", got)
	}
	NoNewGoroutines(t, before, "must.waitFor")
	close(release)
	running.Wait()
	NoNewGoroutines(t, before)
}

func waitFor(release chan struct{}) {
	select {
	case <-release:
	case <-time.After(time.Hour):
	}
}
