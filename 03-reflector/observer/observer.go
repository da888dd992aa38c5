// Package observer has the interface to which the parts of an informer report what they do, and the
// events of the reflector. The other parts declare their own events. The metrics of an informer and
// the page X-ray use it.
package observer

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// An Observer gets an event for each action of a part. The type of the event says which action it
// is: an observer has a case for each type that it needs, and ignores all others. Objects are
// shared: an observer must not change them.
//
// The goroutine that causes the event calls Observe, often while it holds a lock. So Observe must be
// quick and must not wait. It may call Stop of the informer, and no other method. Several goroutines
// call Observe at the same time.
type Observer interface{ Observe(event any) }

// A Func is a function that is an Observer.
type Func func(event any)

// Observe implements Observer.
func (f Func) Observe(event any) { f(event) }

// The events of a reflector.
type (
	// Listing: it asks for a list. A streamed list comes over a watch, object by object.
	Listing struct {
		Version string // "" for the newest state
		Stream  bool
	}

	// Listed: the store has accepted a list.
	Listed struct {
		Objects int
		Version string
	}

	// Watching: it opens a watch.
	Watching struct{ Version string }

	// Received: the watch has sent an event. The objects of a streamed list are not reported one by
	// one.
	Received struct {
		Type    watch.EventType
		Key     string
		Object  runtime.Object
		Version string
	}

	// Bookmark: the watch has sent a bookmark.
	Bookmark struct{ Version string }

	// LeftOut: an event has a wrong type, or the store has refused it.
	LeftOut struct {
		Type   watch.EventType
		Object runtime.Object
		Err    error
	}

	// Ended: a list failed, or the store has refused it, or a watch ended. Err is nil if a watch
	// ended normally.
	Ended struct{ Err error }

	// Expired is Ended because the version is too old.
	Expired struct{ Err error }

	// BackingOff: it waits before it tries again.
	BackingOff struct{ Pause time.Duration }
)
