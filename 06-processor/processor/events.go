package processor

import "time"

// The events that a Processor reports to its observer. A Fanout may report events of its own.
type (
	// Joined: a handler was added.
	Joined struct{ Registration *Registration }

	// Appended: a change waits for the handlers.
	Appended struct{ Notification }

	// Called: a handler has returned from a call. Waiting is the number of notifications that are
	// not delivered to it yet.
	Called struct {
		Notification
		Registration *Registration
		Took         time.Duration
		Waiting      int
	}

	// Removed: a handler was removed.
	Removed struct{ Registration *Registration }
)
