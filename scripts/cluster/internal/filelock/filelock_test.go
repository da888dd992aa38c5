// Tests that a lock keeps others out until it is released.
package filelock

import (
	"context"
	"errors"
	"path/filepath"
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
