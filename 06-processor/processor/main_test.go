// The fixtures of the tests: both fan-outs, pods, and a handler that records its calls.

package processor

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var fanouts = map[string]func() Fanout{"channels": NewChannels, "log": func() Fanout { return NewLog() }}

// eachFanout runs a test with each Fanout, in fake time.
func eachFanout(t *testing.T, test func(*testing.T, Fanout)) {
	t.Helper()
	for name, newFanout := range fanouts {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newFanout()) })
		})
	}
}

// pod makes a pod with a name and a version.
func pod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, ResourceVersion: fmt.Sprint(version), UID: types.UID("uid of " + name),
	}}
}

func added(name string, version int) Notification {
	return Notification{Kind: Added, Key: name, New: pod(name, version)}
}

func updated(name string, from, to int) Notification {
	return Notification{Kind: Updated, Key: name, Old: pod(name, from), New: pod(name, to)}
}

func deleted(name string, from, to int) Notification {
	return Notification{Kind: Deleted, Key: name, Old: pod(name, from), New: pod(name, to)}
}

// another gives the new state another UID: it is another object of the same name.
func another(n Notification) Notification {
	n.New.(*corev1.Pod).UID += ", the second"
	return n
}

// text describes a notification in words.
func text(n Notification) string {
	switch n.Kind {
	case Added:
		if n.Initial {
			return fmt.Sprintf("add %s %s, initial", n.Key, version(n.New))
		}
		return fmt.Sprintf("add %s %s", n.Key, version(n.New))
	case Updated:
		return fmt.Sprintf("update %s %s to %s", n.Key, version(n.Old), version(n.New))
	case Deleted:
		return fmt.Sprintf("delete %s %s", n.Key, version(n.New))
	}
	return "synced"
}

func version(obj any) string {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return "tombstone of " + version(gone.Obj)
	}
	return obj.(*corev1.Pod).ResourceVersion
}

func texts(notifications []Notification) (lines []string) {
	for _, n := range notifications {
		lines = append(lines, text(n))
	}
	return lines
}

// A recorder is a handler that records its calls. It is for a bubble of testing/synctest.
type recorder struct {
	cache.ResourceEventHandlerDetailedFuncs

	mu    sync.Mutex
	lines []string
}

func (r *recorder) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// want waits until all goroutines are blocked. Then it checks the calls since the last time.
func (r *recorder) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.lines, want) {
		t.Errorf("the handler got the calls\n  %q\nwant\n  %q", r.lines, want)
	}
	r.lines = nil
}

func newRecorder() *recorder {
	r := &recorder{}
	r.AddFunc = func(obj any, initial bool) {
		r.add(text(Notification{Kind: Added, Initial: initial, Key: obj.(*corev1.Pod).Name, New: obj}))
	}
	r.UpdateFunc = func(old, obj any) {
		r.add(text(Notification{Kind: Updated, Key: obj.(*corev1.Pod).Name, Old: old, New: obj}))
	}
	r.DeleteFunc = func(obj any) {
		r.add(text(Notification{Kind: Deleted, Key: obj.(*corev1.Pod).Name, New: obj}))
	}
	return r
}
