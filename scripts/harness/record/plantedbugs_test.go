// The bugs that are planted in informers.

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

// drop loses the nth of what it is to pass on.
func drop[T any](n int) func(T, func(T)) {
	seen := 0
	return func(one T, pass func(T)) {
		if seen++; seen != n {
			pass(one)
		}
	}
}

// swap exchanges the nth and the one after it.
func swap[T any](n int) func(T, func(T)) {
	seen := 0
	var held T
	return func(one T, pass func(T)) {
		if seen++; seen == n {
			held = one
			return
		}
		pass(one)
		if seen == n+1 {
			pass(held)
		}
	}
}

// buggyServer is one whose lists or watches are changed.
type buggyServer struct {
	*fakeapi.Server
	bug
	lists int
}

func (s *buggyServer) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := s.Server.ListWithContext(ctx, o)
	if s.lists++; err == nil && s.list != nil {
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

// eventWatch is a watch whose events come over a channel of its own.
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

func altered(o *corev1.ConfigMap) *corev1.ConfigMap {
	o = o.DeepCopy()
	o.Data["version"] = "altered"
	return o
}

// call is one of a handler, on its way.
type call struct {
	method      string
	oldObj, obj any
	first       bool
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
			next.OnAdd(c.obj, c.first)
		case "OnUpdate":
			next.OnUpdate(c.oldObj, c.obj)
		case "OnDelete":
			next.OnDelete(c.obj)
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, first bool) { change(call{"OnAdd", nil, obj, first}, pass) },
		UpdateFunc: func(oldObj, newObj any) { change(call{"OnUpdate", oldObj, newObj, false}, pass) },
		DeleteFunc: func(obj any) { change(call{"OnDelete", nil, obj, false}, pass) },
	}
}

// each is a bug without a memory.
func each(bug func(call, func(call))) func() func(call, func(call)) {
	return func() func(call, func(call)) { return bug }
}

// fourth is a bug that hits the fourth call.
func fourth(bug func(n int) func(call, func(call))) func() func(call, func(call)) {
	return func() func(call, func(call)) { return bug(4) }
}

// dropNew loses the add of the last version.
func dropNew(c call, pass func(call)) {
	if c.method != "OnAdd" || c.obj.(Object).GetResourceVersion() != "10" {
		pass(c)
	}
}

func dropTombstones(c call, pass func(call)) {
	if _, ok := c.obj.(cache.DeletedFinalStateUnknown); !ok {
		pass(c)
	}
}

// alterObjects changes what is in an object, and not its version.
func alterObjects(c call, pass func(call)) {
	if c.method == "OnAdd" {
		c.obj = altered(c.obj.(*corev1.ConfigMap))
	}
	pass(c)
}

func repeatAdd(c call, pass func(call)) {
	pass(c)
	if c.method == "OnAdd" {
		pass(c)
	}
}

func passString(c call, pass func(call)) {
	if c.method == "OnAdd" {
		c.obj = "a string"
	}
	pass(c)
}

// addDeleted adds what was deleted once more.
func addDeleted(c call, pass func(call)) {
	pass(c)
	if _, whole := c.obj.(*corev1.ConfigMap); whole && c.method == "OnDelete" {
		pass(call{"OnAdd", nil, c.obj, false})
	}
}

// buggyIndexer is one that has other keys under a value, or none.
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

func indexes(value string, keys ...string) func(cache.Indexer) cache.Indexer {
	return func(indexer cache.Indexer) cache.Indexer { return buggyIndexer{indexer, value, keys} }
}
