// Package factory has one shared informer for each type, however many ask for it.
package factory

import (
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
	// Namespace to look at. Default: all.
	Namespace string

	// Resync is how often handlers are told of all objects again; ResyncFor is
	// the same for single types. Default: never.
	Resync    time.Duration
	ResyncFor map[schema.GroupVersionResource]time.Duration

	// Tweak, if set, changes the options of every LIST and WATCH, to select by
	// label, say.
	Tweak func(*metav1.ListOptions)

	// Transform, if set, makes what is stored out of what comes.
	Transform cache.TransformFunc

	// Kinds gives objects their Kind and APIVersion, which they come without.
	Kinds bool

	// Dynamic is asked for the types that client-go has no Go type for: custom
	// resources. Default: such types are refused.
	Dynamic dynamic.Interface
}

// A Factory has informers, one for each type that was asked for. To ask again is
// to get the same one. It may be used from any goroutine.
type Factory struct {
	client  kubernetes.Interface
	options Options

	mu       sync.Mutex
	entries  map[schema.GroupVersionResource]*entry
	shutDown bool
	running  sync.WaitGroup
}

// An entry is an informer and how to stop it.
type entry struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc // nil until it is started
	stopped  chan struct{}
}

// New returns a factory of informers that ask client.
func New(client kubernetes.Interface, options Options) *Factory {
	return &Factory{client: client, options: options, entries: map[schema.GroupVersionResource]*entry{}}
}

// Start runs every informer that was asked for and does not run yet, until ctx
// ends. It does not wait. Who asks for another type later, starts again.
func (f *Factory) Start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shutDown {
		return
	}
	for _, e := range f.entries {
		if e.stop == nil {
			f.run(ctx, e)
		}
	}
}

func (f *Factory) run(ctx context.Context, e *entry) {
	ctx, e.stop = context.WithCancel(ctx)
	f.running.Go(func() {
		defer close(e.stopped)
		e.informer.RunWithContext(ctx)
	})
}

// WaitForCacheSync returns when all informers that were started hold their first
// list. If ctx ends before, the error says which ones do not.
func (f *Factory) WaitForCacheSync(ctx context.Context) error {
	var checkers []cache.DoneChecker
	started := f.started()
	for _, e := range started {
		checkers = append(checkers, e.informer.HasSyncedChecker())
	}
	if cache.WaitFor(ctx, "", checkers...) {
		return nil
	}
	var waiting []string
	for resource, e := range started {
		if !e.informer.HasSynced() {
			waiting = append(waiting, name(resource))
		}
	}
	slices.Sort(waiting)
	return fmt.Errorf("waiting for the first list of %s (are they served, and may you list and watch them?): %w",
		strings.Join(waiting, ", "), context.Cause(ctx))
}

func (f *Factory) started() map[schema.GroupVersionResource]*entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	started := maps.Clone(f.entries)
	maps.DeleteFunc(started, func(_ schema.GroupVersionResource, e *entry) bool { return e.stop == nil })
	return started
}

// Forget stops the informer of a type and drops it, with all that it holds; the
// next to ask for that type gets a new one. It returns when its last handler has
// returned, so a handler must not call it. To forget what is not there is fine.
//
// Who still has the old informer, or a lister of it, has its last state.
func (f *Factory) Forget(resource schema.GroupVersionResource) {
	f.mu.Lock()
	e, ok := f.entries[resource]
	delete(f.entries, resource)
	if ok && e.stop == nil {
		ok = false // it never ran
	}
	f.mu.Unlock()
	if ok {
		e.stop()
		<-e.stopped
	}
}

// Shutdown stops all informers, for good, and returns when no goroutine of
// theirs is left.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.shutDown = true
	for _, e := range f.entries {
		if e.stop != nil {
			e.stop()
		}
	}
	f.mu.Unlock()
	f.running.Wait()
}

// informerFor returns the informer of a resource, made with the given function
// if it is not there yet.
func (f *Factory) informerFor(resource schema.GroupVersionResource, build func() (cache.SharedIndexInformer, error)) (cache.SharedIndexInformer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.entries[resource]; ok {
		return e.informer, nil
	}
	made, err := build()
	if err != nil {
		return nil, err
	}
	f.entries[resource] = &entry{informer: made, stopped: make(chan struct{})}
	return made, nil
}

// newInformer makes the informer of a resource: of Go objects if client-go has a
// type for it, of unstructured ones if not.
func (f *Factory) newInformer(resource schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
	source, err := f.source(resource)
	if err != nil {
		return nil, err
	}
	made := informer.New(source.listerWatcher, source.example, cache.SharedIndexInformerOptions{
		ResyncPeriod:      f.resync(resource),
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, // listers look for it
		ObjectDescription: name(resource),
	})
	return made, made.SetTransform(f.transform(source.kind))
}

func (f *Factory) resync(resource schema.GroupVersionResource) time.Duration {
	if period, ok := f.options.ResyncFor[resource]; ok {
		return period
	}
	return f.options.Resync
}

// name is a resource as kubectl takes it: pods, deployments.v1.apps.
func name(resource schema.GroupVersionResource) string {
	if resource.Group == "" {
		return resource.Resource
	}
	return strings.Join([]string{resource.Resource, resource.Version, resource.Group}, ".")
}

var errNoDynamic = errors.New("client-go has no type for it, and the factory no dynamic client: set Options.Dynamic")
