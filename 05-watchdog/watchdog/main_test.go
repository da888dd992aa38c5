// What the tests of this package share: a WatchDog on a fake server, in fake
// time, and a handler that writes down its calls.

package watchdog

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/fakeserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// configMap is object name in version.
func configMap(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, ResourceVersion: version, UID: types.UID("uid-" + name),
	}}
}

// lines is a list that goroutines may append to.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

// take returns the lines once all goroutines of the test have come to rest,
// and forgets them.
func (l *lines) take() []string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text
	l.text = nil
	return text
}

func (l *lines) want(t *testing.T, want ...string) {
	t.Helper()
	if got := l.take(); !slices.Equal(got, want) {
		t.Errorf("got\n  %q\nwant\n  %q", got, want)
	}
}

// recorder returns a handler that writes down its calls, with versions.
func recorder(l *lines) cache.ResourceEventHandlerDetailedFuncs {
	show := func(obj any) string {
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			return fmt.Sprintf("tombstone %s of %s", gone.Key, gone.Obj.(metav1.Object).GetResourceVersion())
		}
		return obj.(metav1.Object).GetName() + " " + obj.(metav1.Object).GetResourceVersion()
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, first bool) {
			if first {
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

// A kennel is a running WatchDog of ConfigMaps, and what it said.
type kennel struct {
	*WatchDog
	server *fakeserver.Server
	calls  lines
	errors lines
	stop   func() error // ends it and returns what Run returned
}

// run starts a WatchDog on the server. options may change what it is made of.
func run(t *testing.T, server *fakeserver.Server, options ...func(*kennel, *Options)) *kennel {
	t.Helper()
	k := &kennel{server: server}
	opts := Options{
		ListerWatcher: server,
		ObjectType:    &corev1.ConfigMap{},
		Handler:       recorder(&k.calls),
		OnError:       func(err error) { k.errors.add("%v", err) },
	}
	for _, option := range options {
		option(k, &opts)
	}
	dog, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	k.WatchDog = dog
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- dog.Run(ctx) }()
	k.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { k.stop() })
	return k
}
