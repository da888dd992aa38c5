// Many updates, one after the other and several at a time.

package xray

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

const bulkWorkers = 16

// A bulk is many updates that are under way.
type bulk struct {
	what string
	of   int
	made atomic.Int64
}

// update begins to change objects, round robin, and goes on in the background.
func (x *XRay) update(ctx context.Context, s *Subject, o order) (string, error) {
	if o.Count < 1 || o.Count > maxUpdates {
		return "", refuse(http.StatusBadRequest, "%d updates: want 1 to %d", o.Count, maxUpdates)
	}
	b := &bulk{what: grouped(o.Count) + " updates", of: o.Count}
	if !s.bulk.CompareAndSwap(nil, b) {
		return "", refuse(http.StatusConflict, "many updates are under way: wait until they are made")
	}
	names := s.names()
	if len(names) == 0 {
		name := fmt.Sprintf("busy-%d", x.created.Add(1))
		if err := s.Objects.Create(ctx, name, map[string]string{"app": "web"}); err != nil {
			s.bulk.Store(nil)
			return "", err
		}
		names = []string{name}
	}
	s.recorder.act(fmt.Sprintf("%s of %s begin.", b.what, count(len(names), "object")), linkInformer)
	return b.what + " have begun.", x.background(func() {
		defer s.bulk.Store(nil)
		switch err := s.updateAll(x.ctx, names, b); {
		case x.ctx.Err() != nil:
		case err != nil:
			s.recorder.act(fmt.Sprintf("The updates were broken off: %v", err), linkInformer)
		default:
			s.recorder.act(b.what+" are made.", linkInformer)
		}
	})
}

// names are those of the objects in the store.
func (s *Subject) names() (names []string) {
	for _, key := range s.Informer.GetStore().ListKeys() {
		if namespace, name, err := cache.SplitMetaNamespaceKey(key); err == nil && namespace == s.namespace {
			names = append(names, name)
		}
	}
	return names
}

// updateAll ends with ctx, or with the first error. An object that is gone is none.
// Two workers hardly ever change the same object: one of them would have to try again.
func (s *Subject) updateAll(ctx context.Context, names []string, b *bulk) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	width := min(bulkWorkers, len(names))
	for first := range width {
		workers.Go(func() {
			for n := first; n < b.of && ctx.Err() == nil; n += width {
				patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"xray":"%d"}}}`, n)
				err := s.Objects.Patch(ctx, names[n%len(names)], patch)
				if err != nil && !apierrors.IsNotFound(err) {
					cancel(err)
					return
				}
				b.made.Add(1)
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// grouped writes a number with a comma before the last three digits.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

func labelsOf(obj any) map[string]string {
	about, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return about.GetLabels()
}
