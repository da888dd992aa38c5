// Functions of client-go's reflector that its tests call. Our reflector has no such functions:
// these call our reflector, and observe what it does.

package adapter

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// ErrorStopRequested says that the context has ended.
var ErrorStopRequested = errors.New("stop requested")

// unsupported is a client that cannot stream lists.
type unsupported struct{}

// IsWatchListSemanticsUnSupported is the method that client-go looks for.
func (unsupported) IsWatchListSemanticsUnSupported() bool { return true }

// WithoutWatchList returns a ListerWatcher that cannot stream lists.
func WithoutWatchList(lw *cache.ListWatch) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(lw, unsupported{})
}

// A watchedStore ignores lists, and reports each version that the watch has reached.
type watchedStore struct {
	cache.ReflectorStore
	reached func(version string, besidesAdded bool)
}

// Replace ignores the list.
func (watchedStore) Replace([]any, string) error { return nil }

// UpdateResourceVersion reports a version.
func (w watchedStore) UpdateResourceVersion(version string) { w.reached(version, true) }

// HandleWatch makes a reflector apply the events of one watch to a store, and returns why the watch
// has ended.
func HandleWatch(ctx context.Context, r *Reflector, w watch.Interface, store cache.ReflectorStore,
	reached func(version string, besidesAdded bool)) error {
	r.Store = watchedStore{store, reached}
	r.ListerWatcher = WithoutWatchList(&cache.ListWatch{
		ListWithContextFunc: emptyList("1"), WatchFuncWithContext: once(w)})
	return r.handle(ctx)
}

// A listedStore reports the version of each list.
type listedStore struct {
	cache.ReflectorStore
	reached func(version string, besidesAdded bool)
}

// Replace reports the version of the list.
func (l listedStore) Replace(objs []any, version string) error {
	l.reached(version, true)
	return l.ReflectorStore.Replace(objs, version)
}

// HandleListWatch makes a reflector fill a store from a watch that begins with a list. It says
// whether the list was complete, and returns why the watch has ended.
func HandleListWatch(ctx context.Context, r *Reflector, w watch.Interface, store cache.ReflectorStore,
	reached func(version string, besidesAdded bool)) (complete bool, err error) {
	r.Store = listedStore{store, func(version string, besidesAdded bool) {
		complete = true
		reached(version, besidesAdded)
	}}
	r.ListerWatcher = &cache.ListWatch{WatchFuncWithContext: once(w)}
	err = r.handle(ctx)
	return complete, err
}

// once returns a watch function that returns w at its first call, and then errNoWatch.
func once(w watch.Interface) cache.WatchFuncWithContext {
	isFirst := true
	return func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		if !isFirst {
			return nil, errNoWatch
		}
		isFirst = false
		return w, nil
	}
}

// handle lists and watches once, and returns why the watch has ended, as client-go's functions do.
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

// IsUnsupportedTableObject says whether the reflector ignores an object of a watch.
func IsUnsupportedTableObject(obj runtime.Object) bool {
	store := cache.NewStore(func(any) (string, error) { return "key", nil })
	w := watch.NewFakeWithChanSize(1, false)
	w.Add(obj)
	w.Stop()
	_ = HandleWatch(context.Background(), &Reflector{}, w, store, func(string, bool) {})
	return len(store.List()) == 0
}

// GetTypeDescriptionFromObject returns the name that a reflector has for a type.
func GetTypeDescriptionFromObject(expected any) string {
	return NewReflector(&cache.ListWatch{}, expected, nil, 0).reflector().TypeDescription
}
