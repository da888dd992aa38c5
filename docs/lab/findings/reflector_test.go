// Findings in the reflector, in fake time.

package findings

import (
	"context"
	"io"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

var expired = apierrors.NewResourceExpired("too old")

// newReflector returns a reflector that requests streamed lists. At each LIST it calls onList, and
// the list is empty. At each WATCH it gets the result of onWatch.
func newReflector(onList func(), onWatch func() (watch.Interface, error)) *cache.Reflector {
	return cache.NewReflector(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			onList()
			return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return onWatch() },
	}, &corev1.ConfigMap{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
}

// The server refuses connections for a while, and meanwhile the watch expires. The list after that
// waits as if the server still refused connections.
func TestOneBackoffForWatchesAndLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, tries := fakeapi.New(), 0
		var end time.Time // of the outage
		server.WatchFuncWithContext = func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			tries++
			switch {
			case tries <= 5:
				return nil, syscall.ECONNREFUSED
			case tries == 6:
				end = time.Now()
				return nil, expired
			default:
				return watch.NewFake(), nil
			}
		}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		must.Run(t, cache.NewReflector(server, &corev1.ConfigMap{}, store, 0).RunWithContext)
		for server.Lists() < 2 {
			time.Sleep(time.Millisecond)
		}
		if pause := time.Since(end); pause < 20*time.Second {
			fixed(t, "the list comes %v after the server is back", pause)
		}
	})
}

// endsEarly returns a watch that sends one object of a list, and ends before the bookmark.
func endsEarly() (watch.Interface, error) {
	w := watch.NewFakeWithChanSize(1, false)
	w.Add(fakeapi.ConfigMap("a", "1"))
	w.Stop()
	return w, nil
}

func TestAStreamedListIsAskedForAgainWithoutAPause(t *testing.T) {
	for name, answer := range map[string]func() (watch.Interface, error){
		"it breaks off":  endsEarly,
		"it has expired": func() (watch.Interface, error) { return nil, expired },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				tries, lists := 0, 0
				onList := func() {
					lists++
					cancel()
				}
				onWatch := func() (watch.Interface, error) {
					tries++
					if tries == 1000 {
						cancel()
					}
					return answer()
				}
				start := time.Now()
				newReflector(onList, onWatch).RunWithContext(ctx)
				if took := time.Since(start); tries < 1000 || took > 0 {
					fixed(t, "there are %d requests for a stream in %v, and %d for a LIST", tries, took, lists)
				}
			})
		})
	}
}

// A sentCounter is the transport of a REST client. It counts requests.
type sentCounter struct{ requests int }

// RoundTrip implements http.RoundTripper.
func (s *sentCounter) RoundTrip(*http.Request) (*http.Response, error) {
	s.requests++
	return nil, io.EOF
}

// The plain list of a source is called once, a stream is not requested, and a REST client sends nothing.
func TestAReflectorWhoseContextHasEnded(t *testing.T) {
	for _, streams := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var sent sentCounter
			client, err := kubernetes.NewForConfig(&rest.Config{Transport: &sent})
			must.NoError(t, err)
			configMaps, lists, watches := client.CoreV1().ConfigMaps("ns"), 0, 0
			source := &cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
					lists++
					return configMaps.List(ctx, options)
				},
				WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
					watches++
					return configMaps.Watch(ctx, options)
				},
			}
			var lw cache.ListerWatcher = source
			if !streams {
				lw = cache.ToListWatcherWithWatchListSemantics(source, fake.NewClientset()) // a fake cannot stream
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			r := cache.NewReflector(lw, &corev1.ConfigMap{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
			r.RunWithContext(ctx)
			synctest.Wait() // RunWithContext does not wait for the list
			if lists == 0 && !streams {
				fixed(t, "List is not called")
			}
			if lists > 0 && streams || watches > 0 || sent.requests > 0 {
				t.Errorf("streams %t: %d calls of List, %d of Watch, %d requests; want a call of List at most",
					streams, lists, watches, sent.requests)
			}
		})
	}
}

func TestAReflectorThatWaitsDoesNotSeeTheEndOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := must.Run(t, newReflector(func() {}, func() (watch.Interface, error) {
			return nil, syscall.ECONNREFUSED
		}).RunWithContext)
		time.Sleep(time.Minute)
		start := time.Now()
		stop()
		if took := time.Since(start); took == 0 {
			fixed(t, "it ends immediately")
		}
	})
}
