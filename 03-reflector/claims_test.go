// What the page docs/03-reflector.md says about client-go, shown on the pinned
// version.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// configMaps lists and watches ConfigMaps with a client made from the
// configuration.
func configMaps(t *testing.T, config *rest.Config, namespace string) *cache.ListWatch {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	return cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", namespace, fields.Everything())
}

// resumes breaks the connection of a reflector whose watch has brought something.
// The reflector tries its watch again and again. When the server is back, it
// resumes where it was: no list is needed.
func resumes(t *testing.T, fail func(*netfault.Proxy)) {
	t.Helper()
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
	must.Run(t, cache.NewReflector(configMaps(t, config, s.Namespace), &corev1.ConfigMap{}, store, 0).RunWithContext)
	must.Until(t, "the first list", func() bool { return len(store.ListKeys()) == 2 })
	sessiontest.Kubectl(t, s, "create configmap one") // a watch that ends before any event is not trusted
	must.Until(t, "the first event", func() bool { return len(store.ListKeys()) == 3 })

	fail(proxy)
	must.Until(t, "three tries to watch", func() bool { return counter.Watches() >= 3 })
	sessiontest.Kubectl(t, s, "delete configmap doomed")
	proxy.Restore()
	must.Until(t, "the delete", func() bool { return len(store.ListKeys()) == 2 })
	expect.That(t, counter.Lists() == 1, "%d lists, want only the first: %s", counter.Lists(), &counter)
}

// Nothing listens on the server's port.
func TestARefusedConnectionLeadsToNoRelist(t *testing.T) {
	resumes(t, func(proxy *netfault.Proxy) { proxy.Refuse(); proxy.Reset() })
}

// Something closes each connection as soon as it has accepted it.
func TestAReflectorResumesWhereSomethingAcceptsItsConnections(t *testing.T) {
	resumes(t, (*netfault.Proxy).Cut)
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
	must.Run(t, cache.NewReflector(configMaps(t, config, s.Namespace), &corev1.ConfigMap{}, store, 0).RunWithContext)
	must.Until(t, "the list and the watch", func() bool { return len(store.ListKeys()) == 1 && counter.Watches() == 1 })
	got, want := counter.String(), "WATCH with the initial list 1, LIST 1, WATCH 1"
	expect.That(t, got == want, "requests: %s, want %s", got, want)
}

func TestABareReflectorTakesNoErrorHandler(t *testing.T) {
	reflector := reflect.TypeFor[*cache.Reflector]()
	for method := range reflector.Methods() {
		expect.That(t, !strings.Contains(method.Name, "ErrorHandler"), "a Reflector has %s now", method.Name)
	}
	fields := append(reflect.VisibleFields(reflector.Elem()),
		reflect.VisibleFields(reflect.TypeFor[cache.ReflectorOptions]())...)
	for _, field := range fields {
		expect.That(t, !field.IsExported() || !strings.Contains(field.Name, "ErrorHandler"),
			"a Reflector has %s now", field.Name)
	}
}

func TestAReflectorWaitsLongerAfterEachFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries, server := make(chan time.Time, 100), fakeapi.New()
		server.ListWithContextFunc = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			tries <- time.Now()
			return nil, errors.New("no")
		}
		controller := cache.New(&cache.Config{
			Queue:                        cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}),
			ListerWatcher:                server,
			ObjectType:                   &corev1.Pod{},
			Process:                      func(any, bool) error { return nil },
			WatchErrorHandlerWithContext: func(context.Context, *cache.Reflector, error) {}, // no log
		})
		must.Run(t, controller.RunWithContext)
		last, pause := <-tries, time.Duration(0)
		for i := range 5 {
			next := <-tries
			expect.That(t, next.Sub(last) > pause,
				"try %d came %v after the one before, the one before that %v", i+2, next.Sub(last), pause)
			last, pause = next, next.Sub(last)
		}
	})
}

func TestAReflectorPassesOnOnlyTheTypeItWasMadeFor(t *testing.T) {
	server, store := fakeapi.New(), cache.NewStore(cache.MetaNamespaceKeyFunc)
	must.Run(t, cache.NewReflector(server, &corev1.Pod{}, store, 0).RunWithContext)
	watcher := server.NextWatch()
	watcher.Add(fakeapi.ConfigMap("stranger", "2"))
	watcher.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod1", ResourceVersion: "3"}})
	must.Until(t, "a pod in the store", func() bool { return len(store.ListKeys()) > 0 })
	keys := store.ListKeys()
	expect.That(t, len(keys) == 1 && keys[0] == "pod1", "the store has %v, want only pod1", keys)
}

// After a list or an event without a version, the next watch begins without one. And the store has the very object
// that it was given.
func TestWhatASourceMustDeliver(t *testing.T) {
	for _, version := range []struct{ list, event, next string }{{"1", "2", "2"}, {"", "2", ""}, {"1", "", ""}} {
		synctest.Test(t, func(t *testing.T) {
			server, store := fakeapi.New(), cache.NewStore(cache.MetaNamespaceKeyFunc)
			server.SetVersion(version.list)
			var asked []string
			watches := server.WatchFuncWithContext
			server.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				asked = append(asked, o.ResourceVersion)
				return watches(ctx, o)
			}
			must.Run(t, cache.NewReflector(server, &corev1.ConfigMap{}, store, 0).RunWithContext)
			w, sent := server.NextWatch(), fakeapi.ConfigMap("a", version.event)
			w.Add(sent)
			w.Stop()
			server.NextWatch()
			expect.That(t, slices.Equal(asked, []string{version.list, version.next}) && store.List()[0] == any(sent),
				"%v: watches from %q, and stored is %v", version, asked, store.List())
		})
	}
}

// The pages of a list are stored together.
func TestAReflectorCollectsAllPagesOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, store := fakeapi.New(), cache.NewStore(cache.MetaNamespaceKeyFunc)
		server.ListWithContextFunc = func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			expect.That(t, len(store.List()) == 0, "something is stored before page %q", o.Continue)
			page := &corev1.ConfigMapList{Items: []corev1.ConfigMap{*fakeapi.ConfigMap("page"+o.Continue, "1")}}
			if o.Continue == "" {
				page.Continue = "2"
			}
			return page, nil
		}
		must.Run(t, cache.NewReflector(server, &corev1.ConfigMap{}, store, 0).RunWithContext)
		server.NextWatch()
		expect.That(t, len(store.List()) == 2, "stored: %q", store.ListKeys())
	})
}

// The step lost has ConfigMaps. With pods it is the same: the delete of a pod that
// was popped is lost. While an update of the pod waits in the queue, it arrives.
func TestADeltaFIFOLosesTheDeleteOfAPodThatWasPopped(t *testing.T) {
	pod := func(name, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
	}
	for updateIsPopped, want := range map[bool][]string{
		true:  {"Added doomed", "Updated doomed", "Added after"},
		false: {"Added doomed", "Updated doomed", "Deleted doomed", "Added after"},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, queue := fakeapi.New(), cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}) // no KnownObjects
			must.Run(t, cache.NewReflector(server, &corev1.Pod{}, queue, 0).RunWithContext)
			var got []string
			pop := func() {
				_, err := queue.Pop(func(obj any, _ bool) error {
					for _, delta := range obj.(cache.Deltas) {
						got = append(got, fmt.Sprintf("%s %s", delta.Type, delta.Object.(*corev1.Pod).Name))
					}
					return nil
				})
				must.Do(t, err)
			}
			watcher := server.NextWatch()
			watcher.Add(pod("doomed", "2"))
			pop()
			watcher.Modify(pod("doomed", "3"))
			if updateIsPopped {
				pop()
			}
			watcher.Delete(pod("doomed", "4"))
			watcher.Add(pod("after", "5"))
			for !slices.Contains(got, "Added after") {
				pop()
			}
			expect.That(t, slices.Equal(got, want),
				"the update is popped: %t: got %q, want %q", updateIsPopped, got, want)
		})
	}
}

// "0" first, then the version that was reached, and "" when the server no longer
// has that.
func TestWhichVersionAReflectorListsFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, expired, server := make(chan string, 10), apierrors.NewResourceExpired("too old"), fakeapi.New()
		server.ListWithContextFunc = func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
			asked <- options.ResourceVersion
			switch options.ResourceVersion {
			case "0":
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5"}}, nil
			case "5":
				return nil, expired
			default:
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}, nil
			}
		}
		server.WatchFuncWithContext = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return nil, expired
		}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		stop := must.Run(t, cache.NewReflector(server, &corev1.Pod{}, store, 0).RunWithContext)
		got := []string{<-asked, <-asked, <-asked, <-asked}
		stop()
		want := []string{"0", "5", "", "9"}
		expect.That(t, slices.Equal(got, want), "listed from %q, want %q", got, want)
	})
}

func TestClientGosReflectorSays(t *testing.T) {
	must.Say(t, "reflector.go",
		`initial list performed by reflector uses "0" as resource version`,
		"to allow it to be served from the watch cache",
		"Streaming has the primary advantage of using fewer server's resources to fetch data",
		"might result in an increased memory consumption of the APIServer",
		"defaultBackoffInit = 800 * time.Millisecond",
		"defaultBackoffMax = 30 * time.Second",
		"defaultBackoffReset = 2 * time.Minute")
	must.Say(t, "listwatch.go", "func ToListerWatcherWithContext(lw ListerWatcher) ListerWatcherWithContext "+
		"{ if lw, ok := lw.(ListerWatcherWithContext); ok { return lw }")
}
