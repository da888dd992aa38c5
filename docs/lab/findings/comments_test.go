// Findings in comments of client-go that are out of date, or were never true.

package findings

import (
	"testing"

	"example.com/informer/scripts/harness/must"
)

// If this fails, take the sentence off the list in docs/reference/upstream.md.
func TestCommentsThatAreOutOfDate(t *testing.T) {
	for file, sentences := range map[string][]string{
		"controller.go": {
			"has to be a DeltaFIFO due to assumptions in the implementation",
			"if non-zero, will re-list this often",
		},
		"fifo.go": {
			`"DeltaFIFO: manipulating with closed queue"`,
			"may return an ErrRequeue{inner} and in this case Pop will",
			"happened before any Add, AddIfNotPresent, Update, or Delete",
		},
		"delta_fifo.go": {
			"DeltaFIFO's Pop(), Get(), and GetByKey() methods return",
			"List() returns the newest object from each accumulator in the FIFO",
		},
		"the_real_fifo.go": {
			"The item is only enqueued if it doesn't already exist in the set",
			"Delete removes an item. It doesn't add it to the queue",
			"This should be a no-op, because that property is maintained by all operations",
			"is done if an Add/Update/Delete/AddIfNotPresent are called first",
			"Queue depth never goes high because processing an item is locking the queue",
			"These objects must all be objects that have not been transformed yet",
		},
		"reflector.go": {
			"If we don't backoff for 2min, assume API server is healthy and we reset the backoff.",
			"resets the backoff timer after each successful iteration (sliding=true)",
			"mean that watch cache is disabled and there are a lot of objects of a given type",
			"delay returns the next backoff interval for retries. resyncPeriod time.Duration",
			"handleListWatch consumes events from w, updates the Store, and records the last seen ResourceVersion, " +
				"to allow continuing from that ResourceVersion on retry. The watcher will always be stopped on exit.",
		},
		"synctrack/synctrack.go": {"Having it at the top of the struct will guarantee that"},
		"shared_informer.go": {
			"pushes them into a DeltaFIFO --- whose knownObjects is the informer's local cache",
			"processing them with `sharedIndexInformer::HandleDeltas`",
			"which is done with the fifo's lock held",
		},
	} {
		must.FindInClientGo(t, file, sentences...)
	}
}
