// Tests that a lock keeps others out until it is released.

package filelock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestSecondWaitsForFirst(t *testing.T) {
	dir := t.TempDir()
	release, err := Acquire(t.Context(), dir, func() { t.Error("nobody holds the lock, yet it is busy") })
	if err != nil {
		t.Fatal(err)
	}
	waiting, got := make(chan struct{}), make(chan error)
	go func() {
		release, err := Acquire(t.Context(), dir, func() { close(waiting) })
		if err == nil {
			release()
		}
		got <- err
	}()
	<-waiting
	select {
	case <-got:
		t.Fatal("two hold the lock at once")
	default:
	}
	release()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

func TestWaitingEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	release, err := Acquire(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Acquire(ctx, dir, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}

func TestNoFolder(t *testing.T) {
	if _, err := Acquire(t.Context(), filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Fatal("locked a folder that does not exist")
	}
}

// A lock on a folder that another process has removed would keep nobody out.
func TestFolderIsRemovedMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	const rounds = 2000
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range rounds {
				_ = os.Mkdir(dir, 0o700)
				release, err := TryAcquire(dir)
				if err != nil {
					continue
				}
				if err := os.Remove(dir); err != nil {
					t.Errorf("the holder of the lock has the folder, but: %v", err)
				}
				release()
			}
		})
	}
	wg.Wait()
}
