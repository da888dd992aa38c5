// A server with a history, for the model test: its objects change, its watches
// break and resume, its lists are what is true at that moment.

package informer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/record"
)

// A modelServer is the truth, and knows all that it ever sent.
type modelServer struct {
	*cache.ListWatch
	plain bool // it cannot send its list over the watch

	mu        sync.Mutex
	changed   chan struct{} // is closed when there is more history
	objects   map[string]record.Object
	uids      map[string]types.UID
	history   []watch.Event // event n has version n; there is none with version 0
	sent      map[record.Object]bool
	streams   context.Context         // of the watches that are open
	end       context.CancelCauseFunc // ends them
	compacted int                     // no watch can begin before this version
	down      error                   // what every request is answered with, if not nil
}

func newModelServer() *modelServer {
	m := &modelServer{
		changed: make(chan struct{}), history: make([]watch.Event, 1), objects: map[string]record.Object{},
		uids: map[string]types.UID{}, sent: map[record.Object]bool{nil: true},
	}
	m.streams, m.end = context.WithCancelCause(context.Background())
	m.ListWatch = &cache.ListWatch{ListWithContextFunc: m.list, WatchFuncWithContext: m.watch}
	return m
}

func (m *modelServer) IsWatchListSemanticsUnSupported() bool { return m.plain }

// write makes an object, or changes it. One that comes back has another UID.
func (m *modelServer) write(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := watch.Modified
	if m.objects[name] == nil {
		kind = watch.Added
		m.uids[name] = types.UID(version(len(m.history)))
	}
	m.objects[name] = m.emit(kind, name)
}

func (m *modelServer) remove(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects[name] != nil {
		delete(m.objects, name)
		m.emit(watch.Deleted, name)
	}
}

// bookmark is an event of no object. It has a version of its own.
func (m *modelServer) bookmark() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.emit(watch.Bookmark, "")
}

// emit adds to the history. The caller holds mu.
func (m *modelServer) emit(kind watch.EventType, name string) *corev1.ConfigMap {
	c := configMap(name, version(len(m.history)))
	c.UID = m.uids[name]
	m.sent[c] = true
	m.history = append(m.history, watch.Event{Type: kind, Object: c})
	close(m.changed)
	m.changed = make(chan struct{})
	return c
}

var errExpired = apierrors.NewResourceExpired("it is too long ago")

// cut ends all watches. Those that end with an error cannot be resumed.
func (m *modelServer) cut(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end(err)
	m.streams, m.end = context.WithCancelCause(context.Background())
}

// compact makes it impossible to begin a watch anywhere but now.
func (m *modelServer) compact() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.compacted = len(m.history) - 1
}

// failWith makes all requests fail, or succeed again.
func (m *modelServer) failWith(down error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// errRefused lets a reflector try its watch again; after any other error it lists.
var (
	errRefused     error = syscall.ECONNREFUSED
	errUnreachable       = errors.New("no way to the server")
)

// list answers with copies of all that there is.
func (m *modelServer) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := &corev1.List{ListMeta: metav1.ListMeta{ResourceVersion: version(len(m.history) - 1)}}
	for _, object := range m.objects {
		object = object.DeepCopyObject().(record.Object)
		m.sent[object] = true
		list.Items = append(list.Items, runtime.RawExtension{Object: object})
	}
	return list, m.down
}

func (m *modelServer) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	var first []watch.Event
	if options.SendInitialEvents != nil {
		all, err := m.list(ctx, options)
		if err != nil {
			return nil, err
		}
		list := all.(*corev1.List)
		for _, item := range list.Items {
			first = append(first, watch.Event{Type: watch.Added, Object: item.Object})
		}
		first = append(first, endOfList(list.ResourceVersion))
		options.ResourceVersion = list.ResourceVersion
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	last, err := strconv.Atoi(options.ResourceVersion)
	switch {
	case m.down != nil:
		return nil, m.down
	case err != nil || last < m.compacted:
		return nil, errExpired
	}
	events := make(chan watch.Event)
	w := watch.NewProxyWatcher(events)
	go m.send(events, w.StopChan(), m.streams, first, last+1)
	return w, nil
}

// endOfList is the mark at the end of a streamed list.
func endOfList(version string) watch.Event {
	end := configMap("", version)
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return watch.Event{Type: watch.Bookmark, Object: end}
}

// send sends some events and the history from next on, until the stream is cut or
// its receiver stops it.
func (m *modelServer) send(events chan<- watch.Event, stopped <-chan struct{}, stream context.Context,
	all []watch.Event, next int) {
	defer close(events)
	for stream.Err() == nil {
		m.mu.Lock()
		all = slices.Concat(all, m.history[next:])
		next = len(m.history)
		changed := m.changed
		m.mu.Unlock()
		for ; len(all) > 0 && stream.Err() == nil; all = all[1:] {
			select {
			case events <- all[0]:
			case <-stream.Done():
			case <-stopped:
				return
			}
		}
		select {
		case <-changed:
		case <-stream.Done():
		case <-stopped:
			return
		}
	}
	if context.Cause(stream) == errExpired {
		status := errExpired.Status()
		select {
		case events <- watch.Event{Type: watch.Error, Object: &status}:
		case <-stopped:
		}
	}
}

// versions are those of the objects, by their keys.
func (m *modelServer) versions() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return record.Versions(slices.Collect(maps.Values(m.objects)))
}
