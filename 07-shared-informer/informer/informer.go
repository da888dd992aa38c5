// Package informer is a shared informer: one LIST and one WATCH, one store with
// its indexes, and as many handlers as you like.
package informer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"example.com/informer/06-processor/processor"
)

// An Informer keeps a store equal to what the server has, and tells handlers of
// every change. It is a cache.SharedIndexInformer, and keeps the contract that
// is written there, with one exception: a handler that has fallen far behind is
// told of how things are, and not of all that happened. It runs once.
//
// There is no queue between the reflector and the store. The reflector's own
// goroutine changes the store and writes the change down for the handlers, and
// neither makes it wait.
type Informer struct {
	listerWatcher cache.ListerWatcher
	example       runtime.Object
	options       cache.SharedIndexInformerOptions
	indexer       cache.Indexer // written by changes alone
	processor     *processor.Processor
	mutations     cache.MutationDetector // does nothing, unless KUBE_CACHE_MUTATION_DETECTOR is set
	synced        chan struct{}          // closed when the store holds the first list

	// changing is held from a change of the store until it is distributed. Who
	// holds it sees a store that is neither ahead of the handlers' news nor behind.
	changing sync.Mutex

	mu           sync.Mutex // guards what is below; taken before changing
	started      bool
	stopped      bool
	reflector    *cache.Reflector // nil until started
	resyncCheck  time.Duration    // how often handlers are asked whether they are due
	onWatchError cache.WatchErrorHandlerWithContext
	transform    cache.TransformFunc // not changed once started
}

// New returns an informer of the objects that lw lists and watches, such as
// exampleObject. Its parameters are those of client-go's
// NewSharedIndexInformerWithOptions.
func New(lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions) *Informer {
	indexers := cache.Indexers{}
	maps.Copy(indexers, options.Indexers) // the store adds to it
	return &Informer{
		listerWatcher: lw,
		example:       exampleObject,
		options:       options,
		indexer: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers,
			cache.WithStoreMetrics(options.Identifier, options.InformerMetricsProvider)),
		processor:    processor.New(processor.NewLog()),
		mutations:    cache.NewCacheMutationDetector(fmt.Sprintf("%T", exampleObject)),
		synced:       make(chan struct{}),
		resyncCheck:  max(options.ResyncPeriod, 0),
		onWatchError: cache.DefaultWatchErrorHandler,
	}
}

// RunWithContext lists, watches and calls handlers until ctx ends, and until
// the last handler has returned. A second call says so and does nothing.
func (i *Informer) RunWithContext(ctx context.Context) {
	reflector, onError := i.start(ctx)
	if reflector == nil {
		klog.FromContext(ctx).Info("Warning: this informer was run before, and it runs once: make a new one", "type",
			i.typeName())
		return
	}
	i.processor.Start()
	var checking sync.WaitGroup
	over := make(chan struct{})
	checking.Go(func() { i.mutations.Run(over) })
	defer func() { // also if an index function panics: the caller may recover
		i.mu.Lock()
		i.stopped = true
		i.mu.Unlock()
		i.processor.Stop()
		close(over)
		checking.Wait()
	}()
	i.reflect(ctx, reflector, onError)
}

// start makes the reflector, once; nil if there is one already.
func (i *Informer) start(ctx context.Context) (*cache.Reflector, cache.WatchErrorHandlerWithContext) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return nil, nil
	}
	i.started = true
	if i.resyncCheck > 0 {
		i.resyncCheck = max(i.resyncCheck, minimumResyncPeriod)
	}
	logger := klog.FromContext(ctx)
	i.reflector = cache.NewReflectorWithOptions(i.listerWatcher, i.example, changes{i}, cache.ReflectorOptions{
		Logger:          &logger,
		ResyncPeriod:    i.resyncCheck,
		TypeDescription: i.options.ObjectDescription,
	})
	i.reflector.ShouldResync = func() bool { return i.processor.ShouldResync(time.Now()) }
	return i.reflector, i.onWatchError
}

// reflect lists and watches, again and again: after each failure it waits a
// little longer, from 0.8 s to half a minute.
func (i *Informer) reflect(ctx context.Context, reflector *cache.Reflector,
	onError cache.WatchErrorHandlerWithContext) {
	if ctx.Err() != nil {
		return // else the server would be asked once
	}
	pause := wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: 30 * time.Second}
	_ = pause.DelayWithReset(clock.RealClock{}, 2*time.Minute).Until(ctx, true, true,
		func(ctx context.Context) (bool, error) {
			if err := reflector.ListAndWatchWithContext(ctx); err != nil {
				onError(ctx, reflector, err)
			}
			return false, nil
		})
}

// changes is the side of an Informer that its reflector writes to: the store
// first, then the handlers.
type changes struct{ *Informer }

var (
	_ cache.TransformingStore      = changes{}
	_ cache.ReflectorBookmarkStore = changes{}
)

// Add takes an event of the watch.
func (c changes) Add(obj any) error {
	obj, key, err := c.prepared(obj)
	if err != nil {
		return err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	old, _, _ := c.indexer.GetByKey(key) // it never fails
	if err := c.indexer.Update(obj); err != nil {
		return err
	}
	c.tell(c.news(key, old, obj))
	return nil
}

// Update is Add: whether something is new is not for the event to say.
func (c changes) Update(obj any) error { return c.Add(obj) }

// Delete takes an event of the watch. Of what was never told, no end is told.
func (c changes) Delete(obj any) error {
	obj, key, err := c.prepared(obj)
	if err != nil {
		return err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	old, exists, _ := c.indexer.GetByKey(key)
	if err := c.indexer.Delete(obj); err != nil || !exists {
		return err
	}
	c.tell(processor.Notification{Kind: processor.Deleted, Key: key, Old: old, New: obj})
	return nil
}

// Replace takes a list. The store has all of it at once, and lacks at once what
// the list lacks. What the list names twice is told once, as it was named last.
func (c changes) Replace(list []any, version string) error {
	keys, objs := make([]string, 0, len(list)), list[:0] // the list is ours
	listed := make(map[string]int, len(list))            // where the object of a key is in both
	for _, obj := range list {
		obj, key, err := c.prepared(obj)
		if errors.Is(err, errNoName) { // without it the list is still of use
			utilruntime.HandleError(fmt.Errorf("an object of a list is left out: %w", err))
			continue
		}
		if err != nil {
			return err
		}
		if at, twice := listed[key]; twice {
			objs[at] = obj
			continue
		}
		listed[key] = len(keys)
		keys, objs = append(keys, key), append(objs, obj)
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	ends, olds := c.deletions(listed), make([]any, len(keys))
	for i, key := range keys {
		olds[i], _, _ = c.indexer.GetByKey(key)
	}
	if err := c.indexer.Replace(objs, version); err != nil {
		return err
	}
	for _, end := range ends {
		c.tell(end)
	}
	for i, key := range keys {
		c.tell(c.news(key, olds[i], objs[i]))
	}
	if !c.HasSynced() {
		close(c.synced)
		c.processor.Synced()
	}
	return nil
}

// prepared is an object as it is to be stored, and its key. One that has no name
// is refused: it is of no server's making, and nobody could ever take it out of
// the store again.
func (c changes) prepared(obj any) (any, string, error) {
	if c.transform != nil {
		var err error
		if obj, err = c.transform(obj); err != nil {
			return nil, "", err
		}
	}
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err == nil && (key == "" || strings.HasSuffix(key, "/")) {
		err = fmt.Errorf("%T %w", obj, errNoName)
	}
	return obj, key, err
}

var errNoName = errors.New("has no name")

// deletions are the ends of what the store holds and a list lacks. Nobody saw
// how: all that can be handed on is the last state that was known.
func (c changes) deletions(listed map[string]int) (news []processor.Notification) {
	for _, key := range c.indexer.ListKeys() {
		if _, ok := listed[key]; ok {
			continue
		}
		old, _, _ := c.indexer.GetByKey(key)
		news = append(news, processor.Notification{
			Kind: processor.Deleted, Key: key, Old: old, New: cache.DeletedFinalStateUnknown{Key: key, Obj: old},
		})
	}
	return news
}

// news is what a stored object means to those who know what the store held: an
// add, or an update, and not what an event calls it.
func (c changes) news(key string, old, obj any) processor.Notification {
	if old == nil {
		return processor.Notification{Kind: processor.Added, Initial: !c.HasSynced(), Key: key, New: obj}
	}
	return processor.Notification{Kind: processor.Updated, Key: key, Old: old, New: obj}
}

// tell distributes what was stored. An update to the same version, out of a new
// list, is no news: it is for handlers that want resyncs.
func (c changes) tell(n processor.Notification) {
	if n.Kind != processor.Deleted {
		c.mutations.AddObject(n.New)
	}
	if n.Kind == processor.Updated && sameVersion(n.Old, n.New) {
		c.processor.Resync(n)
		return
	}
	c.processor.Distribute(n)
}

func sameVersion(one, other any) bool {
	a, err := meta.Accessor(one)
	if err != nil {
		return false
	}
	b, err := meta.Accessor(other)
	return err == nil && a.GetResourceVersion() == b.GetResourceVersion()
}

// Resync tells of all that is stored to those who are due. The server is not
// asked.
func (c changes) Resync() error {
	c.changing.Lock()
	defer c.changing.Unlock()
	for _, key := range c.indexer.ListKeys() {
		obj, _, _ := c.indexer.GetByKey(key)
		c.mutations.AddObject(obj)
		c.processor.Resync(processor.Notification{Kind: processor.Updated, Key: key, Old: obj, New: obj})
	}
	return nil
}

// Bookmark says how far the watch has come, though nothing has changed.
func (c changes) Bookmark(version string) error {
	c.indexer.Bookmark(version)
	return nil
}

// Transformer lets the reflector transform the objects of a streamed list as
// they come, before it has all of them in memory. They come here once more.
func (c changes) Transformer() cache.TransformFunc { return c.transform }
