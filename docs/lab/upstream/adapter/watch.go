package adapter

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// What client-go's reflector has functions for, and ours does inside: the tests of
// those functions see it from outside.

// ErrorStopRequested says that the context has ended.
var ErrorStopRequested = errors.New("stop requested")

// unsupported is a client that cannot stream lists.
type unsupported struct{}

func (unsupported) IsWatchListSemanticsUnSupported() bool { return true }

// WithoutWatchList returns a ListerWatcher that cannot stream lists.
func WithoutWatchList(lw *cache.ListWatch) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(lw, unsupported{})
}

// A watched store keeps what it has when a list comes, and says which versions the
// watch has reached.
type watched struct {
	cache.ReflectorStore
	reached func(version string, besidesAdded bool)
}

func (watched) Replace([]any, string) error { return nil }

func (w watched) UpdateResourceVersion(version string) { w.reached(version, true) }

// HandleWatch has a reflector change a store as one watch says, and returns why the
// watch ended.
func HandleWatch(ctx context.Context, r *Reflector, w watch.Interface, store cache.ReflectorStore,
	reached func(version string, besidesAdded bool)) error {
	r.Store = watched{store, reached}
	r.ListerWatcher = WithoutWatchList(&cache.ListWatch{
		ListWithContextFunc: emptyList("1"), WatchFuncWithContext: once(w)})
	return r.handle(ctx)
}

// A listed store says which version a list has.
type listed struct {
	cache.ReflectorStore
	reached func(version string, besidesAdded bool)
}

func (l listed) Replace(objs []any, version string) error {
	l.reached(version, true)
	return l.ReflectorStore.Replace(objs, version)
}

// HandleListWatch has a reflector fill a store from a watch that begins with a list,
// and returns why the watch ended.
func HandleListWatch(ctx context.Context, r *Reflector, w watch.Interface, store cache.ReflectorStore,
	reached func(version string, besidesAdded bool)) (complete bool, err error) {
	r.Store = listed{store, func(version string, besidesAdded bool) {
		complete = true
		reached(version, besidesAdded)
	}}
	r.ListerWatcher = &cache.ListWatch{WatchFuncWithContext: once(w)}
	err = r.handle(ctx)
	return complete, err
}

// once is a source of one watch.
func once(w watch.Interface) cache.WatchFuncWithContext {
	return func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		if w == nil {
			return nil, errNoWatch
		}
		one := w
		w = nil
		return one, nil
	}
}

func (r *Reflector) handle(ctx context.Context) error {
	err := r.ListAndWatchWithContext(ctx)
	switch {
	case ctx.Err() != nil:
		return ErrorStopRequested
	case err != nil && !errors.Is(err, errNoWatch):
		return err
	}
	return r.ended
}

// IsUnsupportedTableObject says whether an object of a watch is left out.
func IsUnsupportedTableObject(obj runtime.Object) bool {
	store := cache.NewStore(func(any) (string, error) { return "key", nil })
	w := watch.NewFakeWithChanSize(1, false)
	w.Add(obj)
	w.Stop()
	_ = HandleWatch(context.Background(), &Reflector{}, w, store, func(string, bool) {})
	return len(store.List()) == 0
}

// GetTypeDescriptionFromObject is what a reflector calls a type.
func GetTypeDescriptionFromObject(expected any) string {
	return NewReflector(&cache.ListWatch{}, expected, nil, 0).reflector().TypeDescription
}
