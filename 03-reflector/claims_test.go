// What the page docs/03-reflector.md says about client-go, shown on the pinned
// version.

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/scripts/harness/netfault"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A server that cannot be reached at all is waited for: the reflector goes on
// with its watch where it was, and no list is needed.
func TestARefusedConnectionLeadsToNoRelist(t *testing.T) {
	s := kubetest.Open(t)
	proxy, err := netfault.For(s.Config)
	must(t, err)
	defer proxy.Close()
	var asked requests.Counter
	remote, err := s.With(func(c *rest.Config) {
		c.Dial = proxy.Dial
		asked.Count(c)
	})
	must(t, err)
	defer remote.Cluster.Close()
	_, err = s.CreateConfigMap(t.Context(), "doomed")
	must(t, err)
	store, queue := newQueue()
	reflector := cache.NewReflector(remote.OwnConfigMaps(), &corev1.ConfigMap{}, queue, 0)
	defer flow.Start(t.Context(), reflector)()
	must(t, flow.UntilListed(t.Context(), reflector))
	one, err := s.CreateConfigMap(t.Context(), "one")
	must(t, err)
	must(t, reaches(t.Context(), reflector, one.ResourceVersion)) // a watch that ends before any event is not trusted

	proxy.Refuse()
	proxy.Reset()
	// it tries again
	must(t, flow.Until(t.Context(), "what the test waits for", func() bool { return asked.Watches() > 1 }))
	must(t, s.DeleteConfigMap(t.Context(), "doomed"))
	proxy.Restore()

	must(t, flow.DrainDeltas(t.Context(), queue, func(d cache.Delta) error {
		if _, tombstone := d.Object.(cache.DeletedFinalStateUnknown); tombstone {
			t.Error("the delete came as a tombstone")
		}
		return errors.Join(keep(store, d), showConfigMap(s, d, "Deleted doomed"))
	}))
	if asked.Lists() != 1 {
		t.Errorf("asked for %d lists, want only the first: %s", asked.Lists(), &asked)
	}
}

// answer is a transport that answers requests for a stream with an error, as a
// server does that cannot stream.
type answer struct{ next http.RoundTripper }

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("sendInitialEvents") == "" {
		return a.next.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusUnprocessableEntity,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)),
		Request: r,
	}, nil
}

func (a answer) WrappedRoundTripper() http.RoundTripper { return a.next }

func TestAReflectorFallsBackToListWhereItCannotStream(t *testing.T) {
	s := kubetest.Open(t)
	var asked requests.Counter
	old, err := s.With(func(c *rest.Config) {
		c.Wrap(func(next http.RoundTripper) http.RoundTripper { return answer{next} })
		asked.Count(c)
	})
	must(t, err)
	defer old.Cluster.Close()
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	defer flow.Start(t.Context(), cache.NewReflector(old.ConfigMaps(), &corev1.ConfigMap{}, store, 0))()
	must(t, flow.Until(t.Context(), "what the test waits for", func() bool {
		return len(store.ListKeys()) == 1 && asked.Watches() == 1
	}))
	if got, want := asked.String(), "WATCH with the initial list 1, LIST 1, WATCH 1"; got != want {
		t.Errorf("requests: %s, want %s", got, want)
	}
}

func TestAReflectorHasNoErrorHandlerOfItsOwnToSet(t *testing.T) {
	reflector := reflect.TypeFor[*cache.Reflector]()
	for i := range reflector.NumMethod() {
		if name := reflector.Method(i).Name; strings.Contains(name, "ErrorHandler") {
			t.Errorf("Reflector has a method %s now", name)
		}
	}
	if field, ok := reflector.Elem().FieldByName("WatchErrorHandler"); ok {
		t.Errorf("Reflector has a field %s now", field.Name)
	}
}

// failing is a server that refuses everything.
func failing(tried func()) cannotStream {
	refused := errors.New("no")
	return cannotStream{&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			tried()
			return nil, refused
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (apiwatch.Interface, error) {
			return nil, refused
		},
	}}
}

func TestAReflectorWaitsLongerAfterEachFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := make(chan time.Time, 100)
		controller := cache.New(&cache.Config{
			Queue:                        cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}),
			ListerWatcher:                failing(func() { tries <- time.Now() }),
			ObjectType:                   &corev1.Pod{},
			Process:                      func(any, bool) error { return nil },
			WatchErrorHandlerWithContext: func(context.Context, *cache.Reflector, error) {}, // no log
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); controller.RunWithContext(ctx) }()
		last, pause := <-tries, time.Duration(0)
		for i := range 5 {
			next := <-tries
			if next.Sub(last) <= pause {
				t.Errorf("try %d came %v after the one before, the one before that %v", i+2, next.Sub(last), pause)
			}
			last, pause = next, next.Sub(last)
		}
		cancel()
		<-ended
	})
}

func TestAReflectorPassesOnOnlyTheTypeItWasMadeFor(t *testing.T) {
	watcher := apiwatch.NewFake()
	lw := cannotStream{&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (apiwatch.Interface, error) {
			return watcher, nil
		},
	}}
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	defer flow.Start(t.Context(), cache.NewReflector(lw, &corev1.Pod{}, store, 0))()
	watcher.Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stranger", ResourceVersion: "2"}})
	watcher.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod1", ResourceVersion: "3"}})
	must(t, flow.Until(t.Context(), "what the test waits for", func() bool { return len(store.ListKeys()) > 0 }))
	if keys := store.ListKeys(); len(keys) != 1 || keys[0] != "pod1" {
		t.Errorf("the store has %v, want only pod1", keys)
	}
}
