// Tests of apply alone, and of the lock that it runs under.

package watchdog

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

const keyOfA = "the key of a"

// newPicky returns a WatchDog that does not run. Its key function refuses objects of the version
// "bad", and has another key for those of the version "moved". Its handler records the calls.
func newPicky(t *testing.T) (*WatchDog, *record.Lines) {
	t.Helper()
	lines := &record.Lines{}
	dog, err := New(Options{
		ListerWatcher: fakeapi.New(),
		ObjectType:    &corev1.ConfigMap{},
		Handler:       record.Handler(lines),
		KeyFunction: func(obj any) (string, error) {
			switch obj.(*corev1.ConfigMap).ResourceVersion {
			case "bad":
				return "", errors.New("I do not like it")
			case "moved":
				return "another key", nil
			}
			return keyOfA, nil
		},
	})
	must.NoError(t, err)
	return dog, lines
}

// delta makes a delta of the ConfigMap a.
func delta(kind cache.DeltaType, version string) cache.Delta {
	return cache.Delta{Type: kind, Object: configMap("a", version)}
}

// wantStored checks which version of a the store holds. It is "" for none.
func wantStored(t *testing.T, dog *WatchDog, want string) {
	t.Helper()
	obj, exists, err := dog.store.GetByKey(keyOfA)
	must.NoError(t, err)
	got := ""
	if exists {
		got = obj.(*corev1.ConfigMap).ResourceVersion
	}
	if got != want {
		t.Errorf("the store holds version %q of a, want %q", got, want)
	}
}

// wantMethods checks the methods and the keys of calls.
func wantMethods(t *testing.T, calls []call, want ...string) {
	t.Helper()
	var got []string
	for _, c := range calls {
		got = append(got, c.method)
		if c.key != keyOfA {
			t.Errorf("the call of %s has the key %q, want %q", c.method, c.key, keyOfA)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("apply returns calls of %q, want %q", got, want)
	}
}

func TestApplyChangesTheStoreAndReturnsTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog, lines := newPicky(t)
		calls, err := dog.apply(cache.Deltas{
			delta(cache.Sync, "1"), delta(cache.Updated, "2"), delta(cache.Updated, "3"), delta(cache.Deleted, "4"),
			delta(cache.Added, "5"), delta(cache.Sync, "6"), delta(cache.Sync, "6"),
		}, true)
		must.NoError(t, err)
		lines.Want(t) // the handler is not called here
		wantStored(t, dog, "6")
		wantMethods(t, calls, "OnAdd", "OnUpdate", "OnUpdate", "OnDelete", "OnAdd", "OnUpdate", "OnUpdate")
		for _, c := range calls {
			c.run()
		}
		lines.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "OnUpdate a 3, was 2", "OnDelete a 4", "OnAdd a 5",
			"OnUpdate a 6, was 5", "OnUpdate a 6, was 6")

		calls, err = dog.apply(cache.Deltas{delta(cache.Deleted, "7"), delta(cache.Added, "8")}, true)
		must.NoError(t, err)
		for _, c := range calls {
			c.run()
		}
		lines.Want(t, "OnDelete a 7", "OnAdd a 8") // it came back: it was not in the first list
	})
}

// What was stored before the refusal is delivered. Nothing is stored after it.
func TestApplyWhenTheStoreRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		deltas cache.Deltas
	}{
		{"an update", cache.Deltas{delta(cache.Added, "1"), delta(cache.Updated, "bad"), delta(cache.Updated, "3")}},
		{"a delete", cache.Deltas{delta(cache.Added, "1"), delta(cache.Deleted, "bad"), delta(cache.Added, "3")}},
	} {
		dog, _ := newPicky(t)
		calls, err := dog.apply(test.deltas, false)
		if err == nil || !strings.Contains(err.Error(), keyOfA) {
			t.Errorf("%s: apply() = %v, want an error that contains %q", test.name, err, keyOfA)
		}
		wantMethods(t, calls, "OnAdd")
		wantStored(t, dog, "1")
	}
}

func TestApplyWithoutAKey(t *testing.T) {
	dog, _ := newPicky(t)
	calls, err := dog.apply(cache.Deltas{delta(cache.Added, "bad")}, false)
	if want := "I do not like it"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("apply() = %v, want an error that contains %q", err, want)
	}
	wantMethods(t, calls)
	wantStored(t, dog, "")
}

// A tombstone has a key of its own: the one under which the object is stored. The last state in it
// may be nil. Or the key function has no key for it any more, or another one.
func TestApplyOfATombstoneUsesItsKey(t *testing.T) {
	for name, last := range map[string]any{
		"without an object":                 nil,
		"of an object without a key":        configMap("a", "bad"),
		"of an object that has another key": configMap("a", "moved"),
	} {
		t.Run(name, func(t *testing.T) {
			dog, _ := newPicky(t)
			tombstone := cache.DeletedFinalStateUnknown{Key: keyOfA, Obj: last}
			calls, err := dog.apply(cache.Deltas{
				delta(cache.Added, "1"), {Type: cache.Deleted, Object: tombstone},
			}, false)
			if err != nil {
				t.Errorf("apply() = %v, want no error", err)
			}
			wantMethods(t, calls, "OnAdd", "OnDelete")
			wantStored(t, dog, "")
		})
	}
}

// The store asks for the key of an object when it stores the object. At this moment the lock of the
// queue is held, so that no list comes between the pop and the store.
func TestTheStoreChangesUnderTheLockOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locked := false // when the last key was asked for
		var r *rig
		r = run(t, fakeapi.New(), func(_ *rig, o *Options) {
			o.KeyFunction = func(obj any) (string, error) {
				locked = isLocked(r.inbox)
				return cache.MetaNamespaceKeyFunc(obj)
			}
		})
		r.server.NextWatch().Add(configMap("a", "2"))
		r.calls.Want(t, "OnAdd a 2")
		if !locked {
			t.Error("the store has changed without the lock of the queue")
		}
	})
}

// isLocked reports whether a method of the queue has to wait.
func isLocked(b *inbox) bool {
	listed := make(chan struct{})
	go func() {
		b.Queue.List()
		close(listed)
	}()
	for range 10_000 {
		runtime.Gosched()
		select {
		case <-listed:
			return false
		default:
		}
	}
	return true
}
