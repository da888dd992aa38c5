package informer_test

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

// A modelServer is the API server of the model test. It has a history of events. Its watches break
// and resume. It remembers every object that it has sent.
type modelServer struct {
	*cache.ListWatch
	plain bool // it cannot send a list as a stream of events

	mu        sync.Mutex
	changed   chan struct{} // closed when the history grows
	objects   map[string]record.Object
	uids      map[string]types.UID
	history   []watch.Event // event n has version n; there is none with version 0
	sent      map[record.Object]bool
	streams   context.Context         // of the watches that are open
	end       context.CancelCauseFunc // ends the open watches
	compacted int                     // no watch can begin before this version
	down      error                   // if not nil, the answer to every request
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

// write makes an object, or changes it. An object that was deleted and comes back has another UID.
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

// bookmark emits a bookmark. It has a new version.
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

// cut ends all watches. A watch that ends with an error cannot be resumed.
func (m *modelServer) cut(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end(err)
	m.streams, m.end = context.WithCancelCause(context.Background())
}

// compact makes all versions but the newest too old for a watch.
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

// After errRefused a reflector tries its watch again. After any other error it lists.
var (
	errRefused     error = syscall.ECONNREFUSED
	errUnreachable       = errors.New("no way to the server")
)

// list answers with copies of all objects.
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

// send sends some events, and then the history from next on, until the stream is cut or its
// receiver stops it.
func (m *modelServer) send(events chan<- watch.Event, stopped <-chan struct{}, stream context.Context,
	pending []watch.Event, next int) {
	defer close(events)
	for stream.Err() == nil {
		m.mu.Lock()
		pending = slices.Concat(pending, m.history[next:])
		next = len(m.history)
		changed := m.changed
		m.mu.Unlock()
		for ; len(pending) > 0 && stream.Err() == nil; pending = pending[1:] {
			select {
			case events <- pending[0]:
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

// versions are the versions of the objects, by key.
func (m *modelServer) versions() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return record.Versions(slices.Collect(maps.Values(m.objects)))
}
