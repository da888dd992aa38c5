// The calls of a handler as lines of text, for tests in fake time.

package record

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Lines is a list of lines that several goroutines may append to. The zero value is ready for use.
// It is for a bubble of testing/synctest: the methods that read the lines wait until all goroutines
// of the bubble are blocked. They also empty the list.
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

// Take returns the lines, and empties the list.
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

// WantSorted is Want for lines that have no order. It sorts the lines before it compares them.
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
		AddFunc: func(obj any, isInInitialList bool) {
			if isInInitialList {
				l.Add("OnAdd %s first", show(obj))
			} else {
				l.Add("OnAdd %s", show(obj))
			}
		},
		UpdateFunc: func(oldObj, newObj any) {
			l.Add("OnUpdate %s, was %s", show(newObj), oldObj.(metav1.Object).GetResourceVersion())
		},
		DeleteFunc: func(obj any) { l.Add("OnDelete %s", show(obj)) },
	}
}

// show returns the name and the version of an object.
func show(obj any) string {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return fmt.Sprintf("tombstone %s of %s", tombstone.Key, tombstone.Obj.(metav1.Object).GetResourceVersion())
	}
	o := obj.(metav1.Object)
	return o.GetName() + " " + o.GetResourceVersion()
}
