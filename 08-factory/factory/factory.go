// Package factory makes shared informers. It makes one informer for each type, no matter how many
// parts of a program ask for that type.
package factory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
)

// A Factory keeps one informer for each type that the program has asked for. When the program asks
// for the same type again, it gets the same informer. All methods may be called from any goroutine.
type Factory struct {
	client  kubernetes.Interface
	options Options

	mu           sync.Mutex // guards the fields below
	entries      map[key]*entry
	forgotten    map[key]<-chan struct{} // entry.stopped of the informer that was forgotten last
	identities   map[schema.GroupVersionResource]cache.InformerNameAndResource
	shuttingDown bool // Shutdown was called; Start does nothing from then on
}

// An entry is an informer, with the state of its run.
type entry struct {
	informer cache.SharedIndexInformer
	ctx      context.Context         // the context of the run; nil until Start
	stop     context.CancelCauseFunc // ends ctx; nil until Start
	ran      chan struct{}           // closed when the run that Start began has ended
	stopped  chan struct{}           // closed when Forget has ended this informer and all earlier ones of its key
}

// New returns a factory whose informers list and watch with client.
func New(client kubernetes.Interface, options Options) *Factory {
	return &Factory{
		client:     client,
		options:    options,
		entries:    map[key]*entry{},
		forgotten:  map[key]<-chan struct{}{},
		identities: map[schema.GroupVersionResource]cache.InformerNameAndResource{},
	}
}

// Start runs all informers that do not run yet. They run until ctx ends. Start does not wait for
// their first lists. For a type that the program asks for later, call Start again.
func (f *Factory) Start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shuttingDown {
		return
	}
	for _, e := range f.entries {
		if e.ctx == nil {
			e.ctx, e.stop = context.WithCancelCause(ctx)
			go func() {
				defer close(e.ran)
				e.informer.RunWithContext(e.ctx)
			}()
		}
	}
}

// end stops the informer, and returns when its last handler has returned.
func (e *entry) end(cause error) {
	if e.ctx != nil {
		e.stop(cause)
		<-e.ran
	}
	if i, ok := e.informer.(stopper); ok {
		i.Stop() // ends a run that the program itself has begun, and prevents later runs
		<-i.ShutdownChan()
	}
}

// A stopper is an informer that can be stopped by others than the one who runs it. Ours is one,
// client-go's is not.
type stopper interface {
	Stop()
	ShutdownChan() <-chan struct{}
}

// WaitForCacheSync waits until each informer that was started holds its first list, or was
// forgotten meanwhile. If ctx ends or an informer stops before that, the error names the types that
// have not synced.
func (f *Factory) WaitForCacheSync(ctx context.Context) error {
	_, err := f.waitForCacheSync(ctx)
	return err
}

// waitForCacheSync is WaitForCacheSync. It also returns, for each type, whether it has synced. The
// map has no types that were forgotten meanwhile, and none that were never started.
func (f *Factory) waitForCacheSync(ctx context.Context) (map[key]bool, error) {
	started := f.started()
	for _, e := range started {
		select {
		case <-e.informer.HasSyncedChecker().Done():
		case <-e.ctx.Done(): // an informer that has stopped will not sync
		case <-ctx.Done():
		}
	}
	synced := map[key]bool{}
	var missing []string
	var cause error
	for k, e := range f.started() {
		if started[k] != e {
			continue // a new informer of this type, which nobody here has waited for
		}
		synced[k] = e.informer.HasSynced()
		if !synced[k] {
			missing = append(missing, k.String())
			cause = cmp.Or(context.Cause(ctx), context.Cause(e.ctx))
		}
	}
	if len(missing) == 0 {
		return synced, nil
	}
	slices.Sort(missing)
	return synced, fmt.Errorf(
		"waiting for the first list of %s (are they served, and may you list and watch them?): %w",
		strings.Join(missing, ", "), cause)
}

// started returns the entries whose informers Start has started.
func (f *Factory) started() map[key]*entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	started := maps.Clone(f.entries)
	maps.DeleteFunc(started, func(_ key, e *entry) bool { return e.ctx == nil })
	return started
}

// Forget stops the informer of a type. The factory drops the informer, with all objects that it
// holds. The next call that asks for the type gets a new informer. If there is no informer of that
// type, Forget does nothing.
//
// Forget waits until the informer's last handler has returned. It waits even if the program runs
// the informer itself, and even if another call of Forget has dropped the informer. Therefore the
// functions that an informer calls must not call Forget: a handler, a watch error handler, a
// transform or an index function would wait for itself. They may call the informer's Stop.
//
// A program that still holds a forgotten informer, or its lister, sees the last state of the cache.
// A forgotten informer takes no more handlers, and never runs again.
func (f *Factory) Forget(resource schema.GroupVersionResource) {
	k := key{resource: resource}
	f.mu.Lock()
	before := f.forgotten[k]
	e, ok := f.entries[k]
	if !ok {
		f.mu.Unlock()
		if before != nil {
			<-before
		}
		return
	}
	delete(f.entries, k)
	f.forgotten[k] = e.stopped
	f.mu.Unlock()
	defer close(e.stopped)
	e.end(nil)
	if before != nil {
		<-before
	}
}

// Shutdown stops all informers. From then on Start does nothing. Shutdown waits until all
// goroutines of the informers have ended, even if the program runs the informers itself. As with
// Forget, the functions that an informer calls must not call Shutdown.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.shuttingDown = true
	var running sync.WaitGroup
	for _, e := range f.entries {
		running.Go(func() { e.end(errShutDown) })
	}
	for _, stopped := range f.forgotten {
		running.Go(func() { <-stopped })
	}
	f.mu.Unlock()
	running.Wait()
	f.options.InformerName.Release()
}

// informerFor returns the informer of a key. If there is none yet, build makes it.
func (f *Factory) informerFor(k key, build func() (cache.SharedIndexInformer, error)) (
	cache.SharedIndexInformer, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.entries[k]; ok {
		return e.informer, nil
	}
	made, err := build()
	if err != nil {
		return nil, err
	}
	f.entries[k] = &entry{informer: made, ran: make(chan struct{}), stopped: make(chan struct{})}
	return made, nil
}

// newInformer makes the informer of a resource. Its objects have client-go's Go type if there is
// one. Otherwise they are unstructured.
func (f *Factory) newInformer(resource schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
	source, err := newSource(f.client, &f.options, resource)
	if err != nil {
		return nil, err
	}
	options := cache.SharedIndexInformerOptions{
		ResyncPeriod:      f.options.resync(resource),
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, // listers look for it
		ObjectDescription: name(resource),
		Identifier:        f.identity(resource),
	}
	made := informer.NewWithParts(source.listerWatcher, source.example, options, f.options.Parts)
	return made, made.SetTransform(f.options.transform(source.kind))
}

// identity is the name of a resource's metrics. An InformerName gives out each identity only once.
// Therefore the factory keeps it: the type may be forgotten and asked for again. The caller holds
// f.mu.
func (f *Factory) identity(resource schema.GroupVersionResource) cache.InformerNameAndResource {
	id, ok := f.identities[resource]
	if !ok {
		id = f.options.InformerName.WithResource(resource)
		f.identities[resource] = id
	}
	return id
}

var errShutDown = errors.New("the factory was shut down")
