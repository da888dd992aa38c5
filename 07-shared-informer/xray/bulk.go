// Many updates, several at a time.

package xray

import (
	"context"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

const (
	bulkWorkers = 16
	maxUpdates  = 10_000
)

// A bulk is many updates of objects, round robin.
type bulk struct {
	names   []string // of the objects
	updates int
	made    atomic.Int64
}

// run ends with ctx, or with the first error. That an object is gone is no error. Two
// workers hardly ever change the same object: one of them would have to try again.
func (b *bulk) run(ctx context.Context, objects Objects) error {
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
