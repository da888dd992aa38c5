// What the tests need: an informer on the server, and handlers that record their calls.

package informertest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

var errNotToday = errors.New("not today")

// options are parameters of New. Without indexers, the informer gets an empty map: AddIndexers of
// client-go's informer needs one.
type options struct {
	resync   time.Duration
	indexers cache.Indexers
}

// A rig is an informer of ConfigMaps on a server.
type rig struct {
	cache.SharedIndexInformer
	server *server
	stop   func() // ends the informer, and waits for its end; set by run
}

func newRig(newInformer New, o options, objs ...runtime.Object) *rig {
	if o.indexers == nil {
		o.indexers = cache.Indexers{}
	}
	r := &rig{server: newServer(objs...)}
	r.SharedIndexInformer = newInformer(r.server, &corev1.ConfigMap{}, o.resync, o.indexers)
	return r
}

// run runs the informer until the test is over, or stop is called. It returns when all goroutines
// are blocked.
func (r *rig) run(t *testing.T) {
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(stopped)
	}()
	end := sync.OnceFunc(func() { close(stopped) })
	r.stop = func() {
		end()
		<-ended
	}
	t.Cleanup(r.stop)
	synctest.Wait()
}

// handle adds a handler, with the resync period of the informer.
func (r *rig) handle(t *testing.T, handler cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	t.Helper()
	registration, err := r.AddEventHandler(handler)
	noError(t, err)
	return registration
}

// A recorder is a handler that records its calls, and its registration.
type recorder struct {
	lines
	cache.ResourceEventHandlerRegistration
}

// recorder adds a handler that records its calls.
func (r *rig) recorder(t *testing.T) *recorder {
	t.Helper()
	c := &recorder{}
	c.ResourceEventHandlerRegistration = r.handle(t, c.handler())
	return c
}

// recorderWithPeriod is recorder with a resync period.
func (r *rig) recorderWithPeriod(t *testing.T, period time.Duration) *recorder {
	t.Helper()
	c := &recorder{}
	var err error
	c.ResourceEventHandlerRegistration, err = r.AddEventHandlerWithResyncPeriod(c.handler(), period)
	noError(t, err)
	return c
}

// wantKeys checks the keys of the store.
func (r *rig) wantKeys(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := slices.Sorted(slices.Values(r.GetStore().ListKeys())); !slices.Equal(got, want) {
		t.Errorf("%s: ListKeys() = %q, want %q", when, got, want)
	}
}

// wantRequests checks how many requests the server got.
func (r *rig) wantRequests(t *testing.T, lists, watches int) {
	t.Helper()
	if l, w := r.server.requests(); l != lists || w != watches {
		t.Errorf("%d lists and %d watches, want %d and %d", l, w, lists, watches)
	}
}

func (r *rig) wantStopped(t *testing.T, when string, want bool) {
	t.Helper()
	if got := r.IsStopped(); got != want {
		t.Errorf("%s: IsStopped() = %t, want %t", when, got, want)
	}
}

// wantSynced checks HasSynced of an informer and of registrations.
func wantSynced(t *testing.T, when string, want bool, all ...interface{ HasSynced() bool }) {
	t.Helper()
	synctest.Wait()
	for _, s := range all {
		if got := s.HasSynced(); got != want {
			t.Errorf("%s, %T: HasSynced() = %t, want %t", when, s, got, want)
		}
	}
}

// lines is a list of lines that several goroutines may append to. The methods that read them wait
// until all goroutines are blocked, and empty the list.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

func (l *lines) take() []string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text
	l.text = nil
	return text
}

// want wants these lines and no others.
func (l *lines) want(t *testing.T, want ...string) {
	t.Helper()
	wantEqual(t, l.take(), want)
}

// wantSorted is want for lines that have no order.
func (l *lines) wantSorted(t *testing.T, want ...string) {
	t.Helper()
	wantEqual(t, slices.Sorted(slices.Values(l.take())), want)
}

func wantEqual(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %q\nwant\n  %q", got, want)
	}
}

// handler returns a handler that adds a line for each of its calls, with versions.
func (l *lines) handler() cache.ResourceEventHandlerDetailedFuncs {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if isInInitialList {
				l.add("OnAdd %s first", show(obj))
			} else {
				l.add("OnAdd %s", show(obj))
			}
		},
		UpdateFunc: func(oldObj, newObj any) {
			l.add("OnUpdate %s, was %s", show(newObj), oldObj.(metav1.Object).GetResourceVersion())
		},
		DeleteFunc: func(obj any) { l.add("OnDelete %s", show(obj)) },
	}
}

// show returns the name and the version of an object.
func show(obj any) string {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return fmt.Sprintf("tombstone %s of %s", tombstone.Key, tombstone.Obj.(metav1.Object).GetResourceVersion())
	}
	o := obj.(metav1.Object)
	return o.GetName() + " " + o.GetResourceVersion()
}

// version returns the number n as a resource version.
func version(n int) string { return strconv.Itoa(n) }

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
