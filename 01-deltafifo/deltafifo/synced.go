// When the first list is popped.

package deltafifo

import "k8s.io/client-go/tools/cache"

var _ cache.DoneChecker = (*Queue)(nil)

// HasSynced is true once the first list is popped, and process has returned from its last key. It
// never becomes false again. If Add, Update or Delete comes before the first list, it is true from
// then on.
func (q *Queue) HasSynced() bool { return cache.IsDone(q) }

// HasSyncedChecker is HasSynced as a channel to wait for.
func (q *Queue) HasSyncedChecker() cache.DoneChecker { return q }

// Name implements cache.DoneChecker.
func (q *Queue) Name() string { return "DeltaFIFO" }

// Done implements cache.DoneChecker: it is closed when HasSynced becomes true.
func (q *Queue) Done() <-chan struct{} { return q.synced }

// checkSynced closes synced if all of the first list is popped. It is called when populated or
// initialPopulationCount has changed. The caller holds mu.
func (q *Queue) checkSynced() {
	if q.populated && q.initialPopulationCount == 0 && !q.HasSynced() {
		close(q.synced)
	}
}
