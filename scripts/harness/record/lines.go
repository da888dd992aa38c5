// The calls of a handler as lines of text, for tests that run in fake time, and
// what a program prints.

package record

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Lines is a list that goroutines may append to. The zero value is ready for
// use. What reads it waits first until all goroutines of the test have come to
// rest, and forgets the lines: it is for a bubble of testing/synctest.
type Lines struct {
	mu   sync.Mutex
	text []string
}

// Add appends a line.
func (l *Lines) Add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

// Take returns the lines.
func (l *Lines) Take() []string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text
	l.text = nil
	return text
}

// Want wants these lines and no others.
func (l *Lines) Want(t *testing.T, want ...string) {
	t.Helper()
	wantEqual(t, l.Take(), want)
}

// WantSorted is Want for what has no order of its own.
func (l *Lines) WantSorted(t *testing.T, want ...string) {
	t.Helper()
	wantEqual(t, slices.Sorted(slices.Values(l.Take())), want)
}

func wantEqual(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %q\nwant\n  %q", got, want)
	}
}

// Handler returns a handler that adds a line for each of its calls, with versions.
func Handler(l *Lines) cache.ResourceEventHandlerDetailedFuncs {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, first bool) {
			l.Add("OnAdd %s%s", show(obj), map[bool]string{true: " first"}[first])
		},
		UpdateFunc: func(oldObj, newObj any) {
			l.Add("OnUpdate %s, was %s", show(newObj), oldObj.(metav1.Object).GetResourceVersion())
		},
		DeleteFunc: func(obj any) { l.Add("OnDelete %s", show(obj)) },
	}
}

func show(obj any) string {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return fmt.Sprintf("tombstone %s of %s", gone.Key, gone.Obj.(metav1.Object).GetResourceVersion())
	}
	return obj.(metav1.Object).GetName() + " " + obj.(metav1.Object).GetResourceVersion()
}

// A Buffer keeps the text that is written to it, from any goroutine. The zero
// value is ready for use.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
