// What the page docs/03-reflector.md says about client-go, shown on the pinned
// version.

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// start runs a reflector until the test ends.
func start(t *testing.T, reflector *cache.Reflector) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { reflector.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

// configMaps lists and watches ConfigMaps with a client made from the
// configuration.
func configMaps(t *testing.T, config *rest.Config, namespace string) *cache.ListWatch {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	return cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", namespace, fields.Everything())
}

// If nothing listens on the server's port, the reflector waits, and resumes its
// watch where it was: no list is needed.
func TestARefusedConnectionLeadsToNoRelist(t *testing.T) {
	s := sessiontest.Open(t)
	proxy, err := netfault.For(s.Config)
	must.Do(t, err)
	t.Cleanup(proxy.Close)
	var counter requests.Counter
	config := rest.CopyConfig(s.Config)
	config.Dial = proxy.Dial
	counter.Count(config)
	sessiontest.Kubectl(t, s, "create configmap doomed")
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	start(t, cache.NewReflector(configMaps(t, config, s.Namespace), &corev1.ConfigMap{}, store, 0))
	must.Until(t, "the first list", func() bool { return len(store.ListKeys()) == 2 })
	sessiontest.Kubectl(t, s, "create configmap one") // a watch that ends before any event is not trusted
	must.Until(t, "the first event", func() bool { return len(store.ListKeys()) == 3 })

	proxy.Refuse()
	proxy.Reset()
	must.Until(t, "another try to watch", func() bool { return counter.Watches() > 1 })
	sessiontest.Kubectl(t, s, "delete configmap doomed")
	proxy.Restore()
	must.Until(t, "the delete", func() bool { return len(store.ListKeys()) == 2 })
	if counter.Lists() != 1 {
		t.Errorf("%d lists, want only the first: %s", counter.Lists(), &counter)
	}
}

// A noStreamTransport answers requests for a stream with an error, as a
// server does that cannot stream.
type noStreamTransport struct{ next http.RoundTripper }

func (n noStreamTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("sendInitialEvents") == "" {
		return n.next.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusUnprocessableEntity,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)),
		Request: r,
	}, nil
}

func (n noStreamTransport) WrappedRoundTripper() http.RoundTripper { return n.next }

func TestAReflectorFallsBackToListWhereItCannotStream(t *testing.T) {
	s := sessiontest.Open(t)
	var counter requests.Counter
	config := rest.CopyConfig(s.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return noStreamTransport{next} })
	counter.Count(config)
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	start(t, cache.NewReflector(configMaps(t, config, s.Namespace), &corev1.ConfigMap{}, store, 0))
	must.Until(t, "the list and the watch", func() bool { return len(store.ListKeys()) == 1 && counter.Watches() == 1 })
	if got, want := counter.String(), "WATCH with the initial list 1, LIST 1, WATCH 1"; got != want {
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

func TestAReflectorWaitsLongerAfterEachFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("no")
		tries := make(chan time.Time, 100)
		controller := cache.New(&cache.Config{
			Queue: cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}),
			ListerWatcher: cannotStream{&cache.ListWatch{
				ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					tries <- time.Now()
					return nil, refused
				},
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					return nil, refused
				},
			}},
			ObjectType:                   &corev1.Pod{},
			Process:                      func(any, bool) error { return nil },
			WatchErrorHandlerWithContext: func(context.Context, *cache.Reflector, error) {}, // no log
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { controller.RunWithContext(ctx) })
		last, pause := <-tries, time.Duration(0)
		for i := range 5 {
			next := <-tries
			if next.Sub(last) <= pause {
				t.Errorf("try %d came %v after the one before, the one before that %v", i+2, next.Sub(last), pause)
			}
			last, pause = next, next.Sub(last)
		}
		cancel()
		running.Wait()
	})
}

func TestAReflectorPassesOnOnlyTheTypeItWasMadeFor(t *testing.T) {
	watcher := watch.NewFake()
	listWatch := cannotStream{&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return watcher, nil
		},
	}}
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	start(t, cache.NewReflector(listWatch, &corev1.Pod{}, store, 0))
	watcher.Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stranger", ResourceVersion: "2"}})
	watcher.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod1", ResourceVersion: "3"}})
	must.Until(t, "a pod in the store", func() bool { return len(store.ListKeys()) > 0 })
	if keys := store.ListKeys(); len(keys) != 1 || keys[0] != "pod1" {
		t.Errorf("the store has %v, want only pod1", keys)
	}
}

// "0" first, then the version that was reached, and "" when the server no longer
// has that.
func TestWhichVersionAReflectorListsFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, expired := make(chan string, 10), apierrors.NewResourceExpired("too old")
		listWatch := cannotStream{&cache.ListWatch{
			ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
				asked <- options.ResourceVersion
				switch options.ResourceVersion {
				case "0":
					return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5"}}, nil
				case "5":
					return nil, expired
				default:
					return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}, nil
				}
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return nil, expired
			},
		}}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			store := cache.NewStore(cache.MetaNamespaceKeyFunc)
			cache.NewReflector(listWatch, &corev1.Pod{}, store, 0).RunWithContext(ctx)
		})
		got := []string{<-asked, <-asked, <-asked, <-asked}
		cancel()
		running.Wait()
		if want := []string{"0", "5", "", "9"}; !slices.Equal(got, want) {
			t.Errorf("listed from %q, want %q", got, want)
		}
	})
}

func TestClientGosReflectorSays(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "k8s.io/client-go/tools/cache")
	dir, err := list.Output()
	must.Do(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "reflector.go"))
	must.Do(t, err)
	words := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	for _, text := range []string{
		`initial list performed by reflector uses "0" as resource version ` +
			`to allow it to be served from the watch cache`,
		"Streaming has the primary advantage of using fewer server's resources to fetch data",
		"might result in an increased memory consumption of the APIServer",
		"defaultBackoffInit = 800 * time.Millisecond",
		"defaultBackoffMax = 30 * time.Second",
		"defaultBackoffReset = 2 * time.Minute",
	} {
		if !strings.Contains(words, text) {
			t.Errorf("reflector.go does not say %q any more", text)
		}
	}
}
