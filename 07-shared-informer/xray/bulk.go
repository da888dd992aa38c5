// Many updates at a time: the buttons "100 updates" and "10,000 updates".

package xray

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/informer/07-shared-informer/xray/recorder"
)

const (
	maxUpdates  = 10_000
	bulkWorkers = 16
)

// A bulkUpdate is many updates of some objects, in turn.
type bulkUpdate struct {
	names   []string // of the objects
	updates int
	made    atomic.Int64 // updates so far
}

// update lets all objects of the store be updated in the background, by runUpdates. If there is no
// object, it creates one.
func update(ctx context.Context, p *pair, request actionRequest) (string, error) {
	if request.Count < 1 || request.Count > maxUpdates {
		return "", refuse(http.StatusBadRequest, "%d updates: want 1 to %d", request.Count, maxUpdates)
	}
	b := &bulkUpdate{names: p.storedNames(), updates: request.Count}
	if len(b.names) == 0 {
		name := fmt.Sprintf("busy-%d", p.created.Add(1))
		if err := p.Objects.Create(ctx, name, map[string]string{"app": "web"}); err != nil {
			return "", err
		}
		b.names = []string{name}
	}
	if !p.bulk.CompareAndSwap(nil, b) {
		return "", refuse(http.StatusConflict, "many updates are under way: wait until they are made")
	}
	text := p.recorder.RecordAction(recorder.LinkInformer, "%s of %s begin.",
		recorder.Plural(b.updates, "update"), recorder.Plural(len(b.names), "object"))
	return text, ctx.Err() // if the context has ended, nobody makes the updates
}

// storedNames returns the names of the objects in the store that are in the namespace of the page.
func (p *pair) storedNames() (names []string) {
	for _, key := range p.Informer.GetStore().ListKeys() {
		namespace, name, err := cache.SplitMetaNamespaceKey(key)
		if err == nil && namespace == p.namespace {
			names = append(names, name)
		}
	}
	return names
}

// runUpdates makes the updates that the user has asked for, if any. It makes several at a time,
// until ctx ends.
func (p *pair) runUpdates(ctx context.Context) {
	b := p.bulk.Load()
	if b == nil {
		return
	}
	if err := b.run(ctx, p.Objects); err != nil {
		p.recorder.RecordAction(recorder.LinkInformer, "The updates were broken off: %v", err)
	} else {
		p.recorder.RecordAction(recorder.LinkInformer, "%s are made.", recorder.Plural(b.updates, "update"))
	}
	p.bulk.Store(nil)
}

// run stops at the first error. An object that was deleted meanwhile is none. Consecutive updates
// are of different objects, so that two workers seldom change one object and get a conflict.
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
