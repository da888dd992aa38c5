package store

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// The objects of these tests are strings, which are their own keys.
func stringKey(obj any) (string, error) { return obj.(string), nil }

// While an index function runs, no other write and no AddIndexers can come between. But a reader
// can get an object.
func TestPutHoldsOneLockWhileAnIndexFunctionRuns(t *testing.T) {
	var s *Store
	s = New(Options{KeyFunction: stringKey, Indexers: cache.Indexers{"locks": func(any) ([]string, error) {
		if s.mu.TryLock() {
			s.mu.Unlock()
			t.Error("mu is free while Put calls an index function, want it locked")
		}
		if s.stateMu.TryLock() {
			s.stateMu.Unlock()
		} else {
			t.Error("stateMu is locked while Put calls an index function, want it free")
		}
		return nil, nil
	}}})
	must.NoError(t, s.Add("a"))
}

func TestAnObjectWithoutAVersionLeavesTheVersionOfTheStore(t *testing.T) {
	s := New(Options{KeyFunction: stringKey})
	s.Bookmark("5")
	must.NoError(t, s.Add("a"))
	if got := s.LastStoreSyncResourceVersion(); got != "5" {
		t.Errorf("LastStoreSyncResourceVersion() = %q, want 5", got)
	}
}
