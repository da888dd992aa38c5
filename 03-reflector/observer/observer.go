// Package observer is how the parts of an informer say what they are doing: the
// reflector, the store, the processor and the handlers. Metrics and pictures of an
// informer at work are made from it.
package observer

import "time"

// An Observer is called with each Event, by the goroutine to which it happens, and
// often with a lock held. It must be quick and must not wait. Of the informer it may
// call Stop, and nothing else. Several goroutines call it at a time.
type Observer interface{ Observe(Event) }

// A Func is an Observer that is one function.
type Func func(Event)

// Observe implements Observer.
func (f Func) Observe(e Event) { f(e) }

// An Event is one thing that a part of an informer did. Its Kind says which of
// the fields are set. What they point to is shared: it must not be changed.
type Event struct {
	Kind Kind

	Type    string        // of a change: ADDED, MODIFIED or DELETED
	Key     string        // of the object that it is about
	Old     any           // the object before, or nil
	New     any           // the object now; with DELETED its last state, or a tombstone
	Initial bool          // the change is a part of the initial list
	Stream  bool          // the list comes over a watch, object by object
	Version string        // the resource version that the part has come to
	Count   int           // objects of a list; notifications that were folded, or fit into a chunk
	Waiting int           // notifications that are there for a handler, and not delivered yet
	Handler string        // the name of a registration; several may have one name
	Took    time.Duration // how long a handler took; how long the reflector will wait
	Err     error         // why a list or a watch ended, or an event is left out; nil if a watch just ended

	Registration any // whose Handler is the name: one value for each registration
}

// A Kind says what happened.
type Kind string

const (
	// The reflector.
	Listing    Kind = "listing"     // it asks for a list: Version ("" for the newest state), Stream
	Listed     Kind = "listed"      // the store has accepted a list: Count, Version
	Watching   Kind = "watching"    // it opens a watch: Version
	Received   Kind = "event"       // an event of the watch: Type, Key, New, Version
	Bookmark   Kind = "bookmark"    // a bookmark of the watch: Version
	LeftOut    Kind = "left out"    // an event that is of a wrong type, or that the store refuses: Type, New, Err
	Ended      Kind = "ended"       // a list failed or was refused by the store, or a watch ended: Err
	Expired    Kind = "expired"     // the same, because the version is too old: Err
	BackingOff Kind = "backing off" // it waits before it tries again: Took

	// The store.
	Stored Kind = "stored" // Type, Key, Old, New, Initial, Version

	// The processor.
	Appended Kind = "appended" // a change is there for the handlers: Type, Key, Old, New, Initial
	Chunk    Kind = "chunk"    // the log goes on in a new chunk: Count
	Folded   Kind = "folded"   // a handler that is far behind gets fewer notifications: Handler, Count, Waiting

	// A handler.
	Joined  Kind = "joined"  // it is called from now on: Handler
	Called  Kind = "called"  // it has returned from a call: Handler, Type, Key, Old, New, Initial, Took, Waiting
	Removed Kind = "removed" // it gets nothing any more: Handler
)
