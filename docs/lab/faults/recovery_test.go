// The counts of goroutines and open files.

package main

import (
	"context"
	"runtime/pprof"
	"testing"
	"time"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/usage"
)

// Including those that one of its goroutines has started.
func TestGoroutinesAreCountedByInstance(t *testing.T) {
	over, ended := make(chan struct{}), make(chan struct{})
	pprof.Do(t.Context(), pprof.Labels(label, "one"), func(context.Context) {
		go func() {
			go func() { <-over; close(ended) }()
			<-over
		}()
	})
	r := &runner{scale: scale{timeout: time.Minute}}
	want := func(instance string, n int) {
		t.Helper()
		var got int
		err := r.until(t.Context(), "the count is right", func() bool {
			got = usage.Goroutines(label, instance)
			return got == n
		})
		expect.That(t, err == nil, "%s has %d goroutines, want %d", instance, got, n)
	}
	want("one", 2)
	want("on", 0)
	close(over)
	<-ended
	want("one", 0)
}

func TestOpenFilesAreCounted(t *testing.T) {
	expect.That(t, openFiles() != 0, "none")
}
