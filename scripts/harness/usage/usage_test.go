package usage

import (
	"context"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
)

func TestGoroutines(t *testing.T) {
	if n := Goroutines("test", "yes"); n != 0 {
		t.Errorf("%d goroutines before the first", n)
	}
	var running sync.WaitGroup
	end := make(chan struct{})
	pprof.Do(t.Context(), pprof.Labels("test", "yes"), func(context.Context) {
		for range 3 {
			running.Go(func() { <-end })
		}
	})
	running.Go(func() { <-end }) // without the label
	if n := Goroutines("test", "yes"); n != 3 {
		t.Errorf("%d goroutines, want 3", n)
	}
	close(end)
	running.Wait()
}

func TestHeap(t *testing.T) {
	const size = 50 << 20
	before := Heap()
	kept := make([]byte, size)
	if more := Heap() - before; more < size*9/10 || more > size*11/10 {
		t.Errorf("%d bytes more after an allocation of %d", more, size)
	}
	runtime.KeepAlive(kept)
}
