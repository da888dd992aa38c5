// Bugs to plant in informers.

package record

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
)

// drop loses the nth item.
func drop[T any](n int) func(T, func(T)) {
	count := 0
	return func(item T, pass func(T)) {
		count++
		if count != n {
			pass(item)
		}
	}
}

// swap swaps the nth item and the next one.
func swap[T any](n int) func(T, func(T)) {
	count := 0
	var held T
	return func(item T, pass func(T)) {
		count++
		if count == n {
			held = item
			return
		}
		pass(item)
		if count == n+1 {
			pass(held)
		}
	}
}

// A buggyServer changes the lists and watches of a server.
type buggyServer struct {
	*fakeapi.Server
	bug
	lists int // how many lists were asked for
}

func (s *buggyServer) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := s.Server.ListWithContext(ctx, o)
	s.lists++
	if err == nil && s.list != nil {
		s.list(s.lists, list.(*corev1.List))
	}
	return list, err
}

func (s *buggyServer) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := s.Server.WatchWithContext(ctx, o)
	if err != nil || s.events == nil {
		return w, err
	}
	changed := &eventWatch{Interface: w, events: make(chan watch.Event)}
	go func() {
		defer close(changed.events)
		for e := range w.ResultChan() {
			s.events(e, func(e watch.Event) { changed.events <- e })
		}
	}()
	return changed, nil
}

// An eventWatch is a watch with another channel of events.
type eventWatch struct {
	watch.Interface
	events chan watch.Event
}

func (w *eventWatch) ResultChan() <-chan watch.Event { return w.events }

// listDeleted adds a deleted object to each list after the first.
func listDeleted(n int, list *corev1.List) {
	if n > 1 {
		list.Items = append(list.Items, runtime.RawExtension{Object: object("c", "c1", "3")})
	}
}

// listAltered gives an object other contents, and the same version.
func listAltered(_ int, list *corev1.List) {
	for i, item := range list.Items {
		if o := item.Object.(*corev1.ConfigMap); o.Name == "d" {
			list.Items[i].Object = altered(o)
		}
	}
}

// altered returns a copy with other contents, and the same version.
func altered(o *corev1.ConfigMap) *corev1.ConfigMap {
	o = o.DeepCopy()
	o.Data["version"] = "altered"
	return o
}

// A call is a call of a handler that was not delivered yet.
type call struct {
	method          string
	oldObj, obj     any
	isInInitialList bool
}

// handler passes the calls of a handler through the bug.
func (b bug) handler(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	if b.calls == nil {
		return next
	}
	change := b.calls()
	pass := func(c call) {
		switch c.method {
		case "OnAdd":
			next.OnAdd(c.obj, c.isInInitialList)
		case "OnUpdate":
			next.OnUpdate(c.oldObj, c.obj)
		case "OnDelete":
			next.OnDelete(c.obj)
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			change(call{method: "OnAdd", obj: obj, isInInitialList: isInInitialList}, pass)
		},
		UpdateFunc: func(oldObj, newObj any) { change(call{method: "OnUpdate", oldObj: oldObj, obj: newObj}, pass) },
		DeleteFunc: func(obj any) { change(call{method: "OnDelete", obj: obj}, pass) },
	}
}

// stateless returns a bug for calls that changes each call by itself.
func stateless(bug func(call, func(call))) func() func(call, func(call)) {
	return func() func(call, func(call)) { return bug }
}

// onFourth returns a bug that changes the fourth call of each handler.
func onFourth(bug func(n int) func(call, func(call))) func() func(call, func(call)) {
	return func() func(call, func(call)) { return bug(4) }
}

// dropNew loses the add of the last version.
func dropNew(c call, pass func(call)) {
	if c.method != "OnAdd" || c.obj.(Object).GetResourceVersion() != "10" {
		pass(c)
	}
}

// dropTombstones loses the deletes with a tombstone.
func dropTombstones(c call, pass func(call)) {
	if _, ok := c.obj.(cache.DeletedFinalStateUnknown); !ok {
		pass(c)
	}
}

// alterObjects changes the contents of added objects, and not their version.
func alterObjects(c call, pass func(call)) {
	if c.method == "OnAdd" {
		c.obj = altered(c.obj.(*corev1.ConfigMap))
	}
	pass(c)
}

// repeatAdd delivers each add twice.
func repeatAdd(c call, pass func(call)) {
	pass(c)
	if c.method == "OnAdd" {
		pass(c)
	}
}

// passString replaces added objects by a string.
func passString(c call, pass func(call)) {
	if c.method == "OnAdd" {
		c.obj = "a string"
	}
	pass(c)
}

// addDeleted adds each deleted object again.
func addDeleted(c call, pass func(call)) {
	pass(c)
	if _, isConfigMap := c.obj.(*corev1.ConfigMap); isConfigMap && c.method == "OnDelete" {
		pass(call{method: "OnAdd", obj: c.obj})
	}
}

// A buggyIndexer has other keys under one value.
type buggyIndexer struct {
	cache.Indexer
	value string
	keys  []string
}

func (b buggyIndexer) ListIndexFuncValues(name string) []string {
	return append(b.Indexer.ListIndexFuncValues(name), b.value)
}

func (b buggyIndexer) IndexKeys(name, value string) ([]string, error) {
	if value == b.value {
		return b.keys, nil
	}
	return b.Indexer.IndexKeys(name, value)
}

// indexes returns a bug that makes an indexer have these keys under a value.
func indexes(value string, keys ...string) func(cache.Indexer) cache.Indexer {
	return func(indexer cache.Indexer) cache.Indexer { return buggyIndexer{indexer, value, keys} }
}
