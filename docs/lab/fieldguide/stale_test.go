// Symptoms of a cache that is behind.

package fieldguide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/metrics"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// By default, the client notices a dead connection after 45 seconds. In this test, it needs two.
func TestAConnectionThatIsDead(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1") // for the informer's connections; those of the session exist
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	proxy, err := fault.For(s.Config)
	must.NoError(t, err)
	t.Cleanup(proxy.Close)
	config := rest.CopyConfig(s.Config)
	config.Dial = proxy.Dial
	must.Until(t, "the informer has synced", runConfigMaps(t, config, s.Namespace).HasSynced)
	proxy.BlackHole()
	log.want(t, watchEnded+`an error on the server (\"unable to decode an event from the watch stream: `+
		`http2: client connection lost\") …`)
}

// The timeout is for the whole request including its body, so it ends each watch.
func TestTheConfigHasATimeout(t *testing.T) {
	log, s := captureKlog(t, 5), sessiontest.Open(t)
	config := rest.CopyConfig(s.Config)
	config.Timeout = 2 * time.Second
	must.Until(t, "the informer has synced", runConfigMaps(t, config, s.Namespace).HasSynced)
	log.want(t, `I… streamwatcher.go:…] "Unable to decode an event from the watch stream" `+
		`err="context deadline exceeded (Client.Timeout or context cancellation while reading body)"`)
}

// A failingDecoder is a watch.Decoder that fails after two seconds.
type failingDecoder struct{ err error }

// Decode implements watch.Decoder.
func (d failingDecoder) Decode() (watch.EventType, runtime.Object, error) {
	time.Sleep(2 * time.Second)
	return "", nil, d.err
}

// Close implements watch.Decoder.
func (failingDecoder) Close() {}

// The reflector resumes such a watch without a list.
func TestAWatchIsCutOff(t *testing.T) {
	const goAway = `http2: server sent GOAWAY and closed the connection`
	for err, message := range map[error]string{
		io.ErrUnexpectedEOF: `"Unexpected EOF during watch stream event decoding" err="unexpected EOF"`,
		errors.New(goAway):  `"Unable to decode an event from the watch stream" err="` + goAway + `…"`,
	} {
		log := captureKlog(t, 5)
		synctest.Test(t, func(t *testing.T) {
			server := fakeapi.New()
			server.WatchFuncWithContext = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				decoder := failingDecoder{err: err}
				return watch.NewStreamWatcher(decoder, apierrors.NewClientErrorReporter(500, "GET", "")), nil
			}
			t.Cleanup(func() { time.Sleep(2 * time.Second) }) // until the last decoder has returned
			runInformer(t, server, &corev1.ConfigMap{})
			time.Sleep(time.Minute)
			log.want(t, `I… streamwatcher.go:…] `+message)
			if got := server.Lists(); got != 1 {
				t.Errorf("%v: the server got %d LISTs, want 1", err, got)
			}
		})
	}
}

// The program writes version 3 into the store, while the event of version 2 is on its way. After the
// delete, it writes once more: the object is back, and only the next list removes it.
func TestAStoreThatSomebodyWritesInto(t *testing.T) {
	server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
	informer := runInformer(t, server, &corev1.ConfigMap{})
	w, store := server.NextWatch(), informer.GetStore()
	must.Until(t, "the informer has synced", informer.HasSynced) // version 1 comes before the write
	must.NoError(t, store.Update(fakeapi.ConfigMap("a", "3")))
	w.Modify(fakeapi.ConfigMap("a", "2"))
	must.Until(t, "the store has version 2", func() bool {
		return store.List()[0].(*corev1.ConfigMap).ResourceVersion == "2"
	})
	w.Delete(fakeapi.ConfigMap("a", "4"))
	must.Until(t, "the store is empty", func() bool { return len(store.List()) == 0 })
	must.NoError(t, store.Update(fakeapi.ConfigMap("a", "5")))
	w.Add(fakeapi.ConfigMap("b", "6"))
	must.Until(t, "a is back, beside b", func() bool { return len(store.List()) == 2 })
	server.Set(fakeapi.ConfigMap("b", "6"))
	fakeapi.Expire(w)
	must.Until(t, "only b is left", func() bool { return len(store.List()) == 1 })
}

// The reflector has no timeout of its own for a watch: it waits until the server ends the watch.
func TestASilentWatchStaysOpen(t *testing.T) {
	log := captureKlog(t, 0)
	synctest.Test(t, func(t *testing.T) {
		server, watches := fakeapi.New(), 0
		server.WatchFuncWithContext = func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			watches++
			timeout := *options.TimeoutSeconds
			if timeout < 5*60 || timeout > 10*60 {
				t.Errorf("TimeoutSeconds of the WATCH = %d, want 300 to 600", timeout)
			}
			return watch.NewFake(), nil
		}
		runInformer(t, server, &corev1.ConfigMap{})
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if watches != 1 {
			t.Errorf("the server got %d WATCHes in a day, want 1", watches)
		}
		log.wantEmpty(t)
	})
}

func TestAVeryShortWatch(t *testing.T) {
	log := captureKlog(t, 0)
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		runInformer(t, server, &corev1.ConfigMap{})
		server.NextWatch().Stop()
		log.want(t, watchEnded+`very short watch: …: Unexpected watch close - `+
			`watch lasted less than a second and no items received"`)
		server.NextWatch()
		if got := server.Lists(); got != 2 {
			t.Errorf("the server got %d LISTs, want 2", got)
		}
	})
}

func TestTooManyRequests(t *testing.T) {
	busy := refuseAll(apierrors.NewTooManyRequests("too many requests, please try again later", 1))
	for _, verbosity := range []int{1, 2, 3, 4} {
		log := captureKlog(t, verbosity)
		synctest.Test(t, func(t *testing.T) {
			runConfigMaps(t, &rest.Config{Transport: busy}, "ns")
			time.Sleep(time.Minute)
			if verbosity == 1 {
				log.wantEmpty(t)
				return
			}
			log.want(t, `I… reflector.go:…] "watch-list failed - backing off" … `+
				`err="the server has received too many requests and has asked us to try again later …`)
			if verbosity == 4 {
				log.want(t, `I… with_retry.go:…] "Got a Retry-After response" delay="1s" attempt=1 url="…"`)
			} else {
				log.wantNo(t, "Retry-After")
			}
		})
	}
}

func TestTheServerGoesAway(t *testing.T) {
	for _, verbosity := range []int{3, 4} {
		log := captureKlog(t, verbosity)
		synctest.Test(t, func(t *testing.T) {
			server := fakeapi.New()
			server.WatchFuncWithContext = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return nil, fmt.Errorf("dial tcp 192.0.2.1:6443: connect: %w", syscall.ECONNREFUSED)
			}
			runInformer(t, server, &corev1.ConfigMap{})
			time.Sleep(time.Hour)
			if verbosity == 4 {
				log.want(t, `I… reflector.go:…] "Watch failed - backing off" … err="…: connect: connection refused"`)
			} else {
				log.wantNo(t, "refused")
			}
			log.wantNo(t, "\nE") // no error
			if got := server.Lists(); got != 1 {
				t.Errorf("the server got %d LISTs, want 1", got)
			}
		})
	}
}

// The client has a later version than the server, as after a restore of etcd from a backup. The
// informer sends no LIST, so no LIST fails.
func TestTheVersionIsTooLarge(t *testing.T) {
	log, s := captureKlog(t, 4), sessiontest.Open(t)
	const version = "999999999"
	err := s.Client.CoreV1().RESTClient().Get().Namespace(s.Namespace).Resource("configmaps").
		Param("resourceVersion", version).MaxRetries(0).Do(t.Context()).Error()
	want := "Timeout: Too large resource version: " + version + ", current: "
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("LIST from version %s = %v, want an error with %q", version, err, want)
	}
	var watches atomic.Int64
	informer := runInformer(t, listWatch(s.Client, "configmaps", s.Namespace, func(options *metav1.ListOptions) {
		options.TimeoutSeconds = new(int64(2))
		if options.SendInitialEvents == nil {
			options.ResourceVersion = version
			watches.Add(1)
		}
	}), &corev1.ConfigMap{})
	must.Until(t, "a watch", func() bool { return watches.Load() >= 1 })
	sessiontest.Kubectl(t, s, "create configmap unseen")
	before := watches.Load() // a watch lasts for two seconds, and kubectl may take longer
	must.Until(t, "two more watches", func() bool { return watches.Load() >= before+2 })
	log.want(t, `I… reflector.go:…] "Watch close" … totalItems=0`)
	keys := informer.GetStore().ListKeys()
	if len(keys) != 1 {
		t.Errorf("the store has the keys %q, want only the ConfigMap that the cluster creates in each namespace", keys)
	}
}

func TestAVersionThatIsNoLongerServed(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create -f parcels.yaml")
	sessiontest.Kubectl(t, s, "create -f parcel.yaml")
	informer := runParcels(t, s, "v2", nil)
	must.Until(t, "the informer has synced", informer.HasSynced)
	sessiontest.Kubectl(t, s, "patch crd parcels."+s.Namespace+".example.com --type=json "+
		`-p=[{"op":"replace","path":"/spec/versions/1/served","value":false}]`)
	log.want(t, failedToWatch+`the server could not find the requested resource" …`)
	if keys := informer.GetStore().ListKeys(); len(keys) != 1 {
		t.Errorf("the store has the keys %q, want one key, as before", keys)
	}
	if !informer.HasSynced() {
		t.Error("HasSynced() = false, want true, as before")
	}
}

// When a CRD is deleted, the server ends its watches. So the informer lists, and finds what the new CRD has.
func TestACRDThatIsCreatedAgain(t *testing.T) {
	s := sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create -f parcels.yaml")
	sessiontest.Kubectl(t, s, "create -f parcel.yaml")
	informer := runParcels(t, s, "v1", nil)
	uid := func() string {
		for _, obj := range informer.GetStore().List() {
			return string(obj.(*unstructured.Unstructured).GetUID())
		}
		return ""
	}
	must.Until(t, "the informer has a parcel", func() bool { return uid() != "" })
	before := uid()
	sessiontest.Kubectl(t, s, "delete crd parcels."+s.Namespace+".example.com")
	sessiontest.Kubectl(t, s, "wait crd/parcels."+s.Namespace+".example.com --for=delete")
	sessiontest.Kubectl(t, s, "create -f parcels.yaml")
	sessiontest.Kubectl(t, s, "create -f parcel.yaml")
	must.Until(t, "the informer has the new parcel", func() bool { return uid() != "" && uid() != before })
}

// The delay is 1.25 seconds, or longer on a busy machine. client-go writes the line at most every
// ten seconds. It measures these in a global variable, so in fake time it would write the line only
// once.
func TestClientSideThrottling(t *testing.T) {
	log := captureKlog(t, 0)
	server := refuseAll(apierrors.NewNotFound(corev1.Resource("pods"), "a"))
	client, err := kubernetes.NewForConfig(&rest.Config{Transport: server, QPS: 0.8, Burst: 1})
	must.NoError(t, err)
	must.Run(t, func(ctx context.Context) {
		for ctx.Err() == nil {
			_, _ = client.CoreV1().Pods("ns").Get(ctx, "a", metav1.GetOptions{})
		}
	})
	log.want(t, `I… request.go:…] "Waited before sending request" delay="1.…s" `+
		`reason="client-side throttling, not priority and fairness" verb="GET" URL="…"`)
}

// A countedLatency counts the values of a metric.
type countedLatency struct{ n int }

// Observe implements metrics.LatencyMetric.
func (c *countedLatency) Observe(context.Context, string, url.URL, time.Duration) { c.n++ }

// A client with a limit measures the wait of each request, even if the request did not wait. So the
// number of values grows with each request. A client without a limit measures nothing.
func TestEachRequestOfALimitedClientIsAWait(t *testing.T) {
	waits, before := new(countedLatency), metrics.RateLimiterLatency
	metrics.RateLimiterLatency = waits
	t.Cleanup(func() { metrics.RateLimiterLatency = before })
	server := refuseAll(apierrors.NewNotFound(corev1.Resource("pods"), "a"))
	for qps, want := range map[float32]int{1000: 3, -1: 0} {
		waits.n = 0
		client, err := kubernetes.NewForConfig(&rest.Config{Transport: server, QPS: qps, Burst: 1000})
		must.NoError(t, err)
		for range 3 {
			_, _ = client.CoreV1().Pods("ns").Get(t.Context(), "a", metav1.GetOptions{})
		}
		if waits.n != want {
			t.Errorf("QPS %v: three requests measured %d waits, want %d", qps, waits.n, want)
		}
	}
}

func TestTheTokenHasExpired(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	config := rest.AnonymousClientConfig(s.Config)
	config.BearerToken = "expired"
	runConfigMaps(t, config, s.Namespace)
	log.want(t, failedToWatch+`failed to list *v1.ConfigMap: Unauthorized" …`)
}
