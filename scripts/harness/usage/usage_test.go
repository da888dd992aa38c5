package usage

import (
	"context"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
)

func TestGoroutines(t *testing.T) {
	wantGoroutines := func(want int) {
		t.Helper()
		if got := Goroutines("test", "yes"); got != want {
			t.Errorf("Goroutines() = %d, want %d", got, want)
		}
	}
	wantGoroutines(0)
	var running sync.WaitGroup
	end := make(chan struct{})
	pprof.Do(t.Context(), pprof.Labels("test", "yes"), func(context.Context) {
		for range 3 {
			running.Go(func() { <-end })
		}
	})
	running.Go(func() { <-end }) // without the label
	wantGoroutines(3)
	if got := Goroutines("test", "ye"); got != 0 {
		t.Errorf("Goroutines() of another value = %d, want 0", got)
	}
	close(end)
	running.Wait()
}

func TestHeap(t *testing.T) {
	const size = 50 << 20
	before := Heap()
	kept := make([]byte, size)
	if grown := Heap() - before; grown < size*9/10 || grown > size*11/10 {
		t.Errorf("after an allocation of %d bytes, Heap() has grown by %d; want about as much", size, grown)
	}
	runtime.KeepAlive(kept)
}
