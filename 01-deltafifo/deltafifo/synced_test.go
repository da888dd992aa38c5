package deltafifo_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/must"
)

// Two objects of the first list are popped, and one that came after it. A second list changes
// nothing.
func TestHasSyncedWhenTheFirstListIsPopped(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
	if q.HasSynced() {
		t.Error("HasSynced() = true before the first list, want false")
	}
	must.NoError(t, q.Replace([]any{item{"a", 1}, item{"b", 1}, item{"a", 2}}, ""))
	must.NoError(t, q.Add(item{"c", 1}))
	var synced, initial []bool // in each pop
	for range 3 {
		err := q.Pop(func(_ cache.Deltas, isInInitialList bool) error {
			synced, initial = append(synced, q.HasSynced()), append(initial, isInInitialList)
			return nil
		})
		must.NoError(t, err)
	}
	if want := []bool{false, false, true}; !slices.Equal(synced, want) {
		t.Errorf("HasSynced() in each pop = %t, want %t", synced, want)
	}
	if want := []bool{true, true, false}; !slices.Equal(initial, want) {
		t.Errorf("isInInitialList of each pop = %t, want %t", initial, want)
	}
	must.NoError(t, q.Replace([]any{item{"d", 1}}, ""))
	q.Close()
	if !cache.IsDone(q.HasSyncedChecker()) {
		t.Error("IsDone(HasSyncedChecker()) = false after a second list, want true")
	}
}

// Pop waits before there is anything. Then an object comes that is not in the first list.
func TestAPopThatHasWaitedKnowsThatTheQueueHasSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
		initial := make(chan bool)
		go q.Pop(func(_ cache.Deltas, isInInitialList bool) error {
			initial <- isInInitialList
			return nil
		})
		synctest.Wait() // it waits
		must.NoError(t, q.Add(item{"a", 1}))
		if <-initial {
			t.Error("isInInitialList = true for an object that Add has queued, want false")
		}
	})
}

// An object that the first list lacks has to be popped, too: it is a known object that is gone.
func TestAKnownObjectThatIsGoneIsPartOfTheFirstList(t *testing.T) {
	known := newSortedStore()
	must.NoError(t, known.Add(item{"gone", 1}))
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: known})
	must.NoError(t, q.Replace(nil, ""))
	if q.HasSynced() {
		t.Error("HasSynced() = true before the tombstone is popped, want false")
	}
	pop(t, q)
	if !q.HasSynced() {
		t.Error("HasSynced() = false after the tombstone was popped, want true")
	}
}

// A resync that is popped before does not count as a part of the first list.
func TestAnEmptyListSyncsAndSoDoesAChangeWithoutAList(t *testing.T) {
	for name, change := range map[string]func(*deltafifo.Queue) error{
		"Replace": func(q *deltafifo.Queue) error { return q.Replace(nil, "") },
		"Add":     func(q *deltafifo.Queue) error { return q.Add(item{"a", 1}) },
		"Update":  func(q *deltafifo.Queue) error { return q.Update(item{"a", 1}) },
		"Delete":  func(q *deltafifo.Queue) error { return q.Delete(item{"a", 1}) },
	} {
		q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
		must.NoError(t, change(q))
		if !q.HasSynced() {
			t.Errorf("HasSynced() = false after %s, want true", name)
		}

		known := newSortedStore()
		must.NoError(t, known.Add(item{"b", 1}))
		q = deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: known})
		must.NoError(t, q.Resync())
		pop(t, q)
		must.NoError(t, known.Delete(item{"b", 1}))
		must.NoError(t, change(q))
		if !q.HasSynced() {
			t.Errorf("HasSynced() = false after a resync and %s, want true", name)
		}
	}
}
