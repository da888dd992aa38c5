// Many updates at a time: the buttons "100 updates" and "10,000 updates".

package xray

import (
	"context"
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
}

// run makes the updates, several at a time, until ctx ends. It stops at the first error. An object
// that was deleted meanwhile is not an error. Consecutive updates are of different objects, so that
// two workers seldom change one object and get a conflict.
func (b *bulkUpdate) run(ctx context.Context, objects Objects) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workqueue.ParallelizeUntil(ctx, min(bulkWorkers, len(b.names)), b.updates, func(n int) {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"xray":"%d"}}}`, n)
		err := objects.Patch(ctx, b.names[n%len(b.names)], patch)
		if err != nil && !apierrors.IsNotFound(err) {
			cancel(err)
			return
		}
		b.made.Add(1)
	})
	return context.Cause(ctx)
}
