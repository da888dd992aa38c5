// Package factory makes shared informers: one for each type, however many parts
// of a program ask for it.
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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
)

// Options of a Factory.
type Options struct {
	// Namespace to list and watch. Default: all.
	Namespace string

	// DefaultResync is how often handlers get an update for every object, from the
	// cache; CustomResync is the same for single types. Default: never.
	DefaultResync time.Duration
	CustomResync  map[schema.GroupVersionResource]time.Duration

	// TweakListOptions, if set, changes the options of every LIST and WATCH, for example to
	// select by label.
	TweakListOptions func(*metav1.ListOptions)

	// Wrap, if set, is called with what an informer lists and watches with, and
	// returns what it uses in its place, for example to count its requests.
	Wrap func(schema.GroupVersionResource, cache.ListerWatcher) cache.ListerWatcher

	// Transform, if set, is called with each object before it is stored. The
	// cache holds what it returns.
	Transform cache.TransformFunc

	// Kinds sets Kind and APIVersion of each object. client-go leaves them empty.
	Kinds bool

	// Dynamic lists and watches the types that client-go has no Go type for:
	// custom resources, even if the program has registered a Go type of its own
	// in scheme.Scheme. Default: such types are refused.
	Dynamic dynamic.Interface

	// InformerName, if set, is the name under which the informers publish metrics.
	// Shutdown releases it.
	InformerName *cache.InformerName
}

// A Factory has informers, one for each type that was asked for. If a type is
// asked for again, it returns the same informer. It may be used from any
// goroutine.
type Factory struct {
	client  kubernetes.Interface
	options Options

	lock         sync.Mutex
	entries      map[key]*entry
	forgotten    map[key]<-chan struct{} // the last one's entry.stopped
	identities   map[schema.GroupVersionResource]cache.InformerNameAndResource
	shuttingDown bool // Shutdown was called: no informer is started any more
}

// An entry is an informer and how to stop it.
type entry struct {
	informer cache.SharedIndexInformer
	ctx      context.Context // of its run; nil until it is started
	stop     context.CancelCauseFunc
	ran      chan struct{} // closed when that run has ended
	stopped  chan struct{} // closed when it was forgotten and has ended, and all that were forgotten before it
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

// Start runs every informer that was asked for and does not run yet, until ctx
// ends. It does not wait. After a type was asked for later, call Start again.
func (f *Factory) Start(ctx context.Context) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.shuttingDown {
		return
	}
	for _, e := range f.entries {
		if e.ctx == nil {
			e.ctx, e.stop = context.WithCancelCause(ctx)
			go func() { defer close(e.ran); e.informer.RunWithContext(e.ctx) }()
		}
	}
}

// end stops the informer, and returns when its last handler has returned.
func (e *entry) end(why error) {
	if e.ctx != nil {
		e.stop(why)
		<-e.ran
	}
	if ours, ok := e.informer.(*informer.Informer); ok {
		ours.Stop() // whoever runs it, or would run it
		<-ours.ShutdownChan()
	}
}

// WaitForCacheSync returns when all informers that were started hold their first
// list, or were forgotten meanwhile. If ctx ends first, or an informer stops
// first, the error names the types that have not synced.
func (f *Factory) WaitForCacheSync(ctx context.Context) error {
	_, err := f.waitForCacheSync(ctx)
	return err
}

// waitForCacheSync also says of each type whether it has synced. Types that were
// forgotten meanwhile, and types that were never started, are left out.
func (f *Factory) waitForCacheSync(ctx context.Context) (map[key]bool, error) {
	started := f.started()
	for _, e := range started {
		select {
		case <-e.informer.HasSyncedChecker().Done():
		case <-e.ctx.Done(): // it never will
		case <-ctx.Done():
		}
	}
	synced := map[key]bool{}
	var missing []string
	var why error
	for k, e := range f.started() {
		if started[k] != e {
			continue // it is new
		}
		synced[k] = e.informer.HasSynced()
		if !synced[k] {
			missing = append(missing, k.String())
			why = cmp.Or(context.Cause(ctx), context.Cause(e.ctx))
		}
	}
	if len(missing) == 0 {
		return synced, nil
	}
	slices.Sort(missing)
	return synced, fmt.Errorf(
		"waiting for the first list of %s (are they served, and may you list and watch them?): %w",
		strings.Join(missing, ", "), why)
}

func (f *Factory) started() map[key]*entry {
	f.lock.Lock()
	defer f.lock.Unlock()
	started := maps.Clone(f.entries)
	maps.DeleteFunc(started, func(_ key, e *entry) bool { return e.ctx == nil })
	return started
}

// Forget stops the informer of a type and drops it, with all objects that it
// holds. The next call that asks for the type gets a new informer. If there is no
// informer of that type, Forget does nothing.
//
// Forget waits until the informer's last handler has returned, even if the program
// runs the informer itself, or if it was another call that dropped it. So nothing that
// the informer calls may call it: a handler, a watch error handler, a transform and an
// index function would wait for themselves. They may call the informer's Stop.
//
// An informer that was forgotten, and its lister, keep their last state for a
// program that still holds them. It takes no more handlers, and it never runs
// again.
func (f *Factory) Forget(resource schema.GroupVersionResource) {
	k := key{resource: resource}
	f.lock.Lock()
	before := f.forgotten[k]
	e, ok := f.entries[k]
	if !ok {
		f.lock.Unlock()
		if before != nil {
			<-before
		}
		return
	}
	delete(f.entries, k)
	f.forgotten[k] = e.stopped
	f.lock.Unlock()
	defer close(e.stopped)
	e.end(nil)
	if before != nil {
		<-before
	}
}

// Shutdown stops all informers, for good. It waits until no goroutine of theirs is
// left, even if the program runs them itself. So nothing that an informer calls may
// call it, as with Forget.
func (f *Factory) Shutdown() {
	f.lock.Lock()
	f.shuttingDown = true
	var ending sync.WaitGroup
	for _, e := range f.entries {
		ending.Go(func() { e.end(errShutDown) })
	}
	for _, stopped := range f.forgotten {
		ending.Go(func() { <-stopped })
	}
	f.lock.Unlock()
	ending.Wait()
	f.options.InformerName.Release()
}

// informerFor returns the informer of a key, made with the given function if it
// is not there yet.
func (f *Factory) informerFor(k key, build func() (cache.SharedIndexInformer, error)) (
	cache.SharedIndexInformer, error,
) {
	f.lock.Lock()
	defer f.lock.Unlock()
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

// newInformer makes the informer of a resource: of Go objects if client-go has a
// type for it, of unstructured ones if not.
func (f *Factory) newInformer(resource schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
	source, err := f.source(resource)
	if err != nil {
		return nil, err
	}
	if f.options.Wrap != nil {
		source.listerWatcher = f.wrap(resource, source.listerWatcher)
	}
	made := informer.New(source.listerWatcher, source.example, cache.SharedIndexInformerOptions{
		ResyncPeriod:      f.resync(resource),
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, // listers look for it
		ObjectDescription: name(resource),
		Identifier:        f.identity(resource),
	})
	return made, made.SetTransform(f.transform(source.kind))
}

// identity is the name of a resource's metrics. An InformerName gives it out once,
// therefore it is kept for a type that is forgotten and asked for again.
func (f *Factory) identity(resource schema.GroupVersionResource) cache.InformerNameAndResource {
	id, ok := f.identities[resource]
	if !ok {
		id = f.options.InformerName.WithResource(resource)
		f.identities[resource] = id
	}
	return id
}

func (f *Factory) resync(resource schema.GroupVersionResource) time.Duration {
	if period, ok := f.options.CustomResync[resource]; ok {
		return period
	}
	return f.options.DefaultResync
}

var (
	errNoDynamic = errors.New("client-go has no type for it, and the factory no dynamic client: set Options.Dynamic")
	errShutDown  = errors.New("the factory was shut down")
)
