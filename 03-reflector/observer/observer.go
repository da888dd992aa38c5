// Package observer has the interface to which the parts of an informer report what they do: the
// reflector, the store, the processor and the handlers. The metrics of an informer and the page
// X-ray use it.
package observer

import "time"

// An Observer gets each Event. The goroutine that causes the event calls Observe, often while it
// holds a lock. So Observe must be quick and must not wait. It may call Stop of the informer, and
// no other method. Several goroutines call Observe at the same time.
type Observer interface{ Observe(Event) }

// A Func is a function that is an Observer.
type Func func(Event)

// Observe implements Observer.
func (f Func) Observe(e Event) { f(e) }

// An Event is one action of a part of an informer. Its Kind says which of the fields are set. The
// objects are shared: an observer must not change them.
type Event struct {
	Kind Kind

	Type    string        // of a change: ADDED, MODIFIED or DELETED
	Key     string        // of the object
	Old     any           // the object before the change, or nil
	New     any           // the object after the change; with DELETED its last state, or a tombstone
	Initial bool          // the change is a part of the initial list
	Stream  bool          // the list comes over a watch, object by object
	Version string        // the resource version that the part has reached
	Count   int           // of the objects of a list; of the notifications that were folded, or fit into a chunk
	Waiting int           // the number of notifications that are not delivered to a handler yet
	Handler string        // the name of a handler; several handlers may have the same name
	Took    time.Duration // how long the call of a handler took; how long the reflector will wait
	Err     error         // why a list or a watch ended, or why an event is left out; nil if a watch ended normally

	Registration any // identifies the registration with the name Handler
}

// A Kind is the kind of an Event.
type Kind string

// The kinds of events, and the fields that each kind sets.
const (
	// Events of the reflector.
	Listing    Kind = "listing"     // it asks for a list: Version ("" for the newest state), Stream
	Listed     Kind = "listed"      // the store has accepted a list: Count, Version
	Watching   Kind = "watching"    // it opens a watch: Version
	Received   Kind = "event"       // the watch has sent an event: Type, Key, New, Version
	Bookmark   Kind = "bookmark"    // the watch has sent a bookmark: Version
	LeftOut    Kind = "left out"    // an event has a wrong type, or the store has refused it: Type, New, Err
	Ended      Kind = "ended"       // a list failed, or the store has refused it, or a watch ended: Err
	Expired    Kind = "expired"     // a list failed or a watch ended because the version is too old: Err
	BackingOff Kind = "backing off" // it waits before it tries again: Took

	// Events of the store.
	Stored Kind = "stored" // a change is in the store: Type, Key, Old, New, Initial, Version

	// Events of the processor.
	Appended Kind = "appended" // a change waits for the handlers: Type, Key, Old, New, Initial
	Chunk    Kind = "chunk"    // a new chunk for notifications was made: Count
	Folded   Kind = "folded"   // a handler that is far behind gets fewer notifications: Handler, Count, Waiting

	// Events of a handler.
	Joined  Kind = "joined"  // it was added: Handler
	Called  Kind = "called"  // it has returned from a call: Handler, Type, Key, Old, New, Initial, Took, Waiting
	Removed Kind = "removed" // it was removed: Handler
)
