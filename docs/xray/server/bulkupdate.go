// Many updates at a time: the buttons "100 updates" and "10,000 updates".

package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

const bulkWorkers = 16

// A bulkUpdate is many updates of some objects, in turn.
type bulkUpdate struct {
	names   []string // of the objects
	updates int
	made    atomic.Int64 // updates so far
	cancel  context.CancelCauseFunc
	ctx     context.Context // of the updates: cancel ends it
}

// errCancelled is why updates end that the user has cancelled.
var errCancelled = errors.New("cancelled")

// run makes the updates, several at a time, until they are cancelled. It stops at the first error. An object
// that was deleted meanwhile is not an error. Consecutive updates are of different objects, so that
// two workers seldom change one object and get a conflict.
func (b *bulkUpdate) run(objects Objects) error {
	defer b.cancel(nil)
	workqueue.ParallelizeUntil(b.ctx, min(bulkWorkers, len(b.names)), b.updates, func(n int) {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"xray":"%d"}}}`, n)
		err := objects.Patch(b.ctx, b.names[n%len(b.names)], patch)
		if err != nil && !apierrors.IsNotFound(err) {
			b.cancel(err)
			return
		}
		b.made.Add(1)
	})
	return context.Cause(b.ctx)
}
