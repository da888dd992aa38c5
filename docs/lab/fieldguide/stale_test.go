// A cache that is behind.

package fieldguide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
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
	"k8s.io/client-go/rest"

	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// In two seconds instead of 45.
func TestAConnectionThatIsDead(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1") // of the informer's connections, and not of the session's
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	proxy, err := netfault.For(s.Config)
	must.Do(t, err)
	t.Cleanup(proxy.Close)
	config := rest.CopyConfig(s.Config)
	config.Dial = proxy.Dial
	must.Until(t, "it has synced", runConfigMaps(t, config, s.Namespace).HasSynced)
	proxy.BlackHole()
	log.want(t, watchEnded+`an error on the server (\"unable to decode an event from the watch stream: `+
		`http2: client connection lost\") …`)
}

// The timeout is of the whole request, with the body: each watch ends after it.
func TestTheConfigHasATimeout(t *testing.T) {
	log, s := captureKlog(t, 5), sessiontest.Open(t)
	config := rest.CopyConfig(s.Config)
	config.Timeout = 2 * time.Second
	must.Until(t, "it has synced", runConfigMaps(t, config, s.Namespace).HasSynced)
	log.want(t, `I… streamwatcher.go:…] "Unable to decode an event from the watch stream" `+
		`err="context deadline exceeded (Client.Timeout or context cancellation while reading body)"`)
}

// A cut is a watch.Decoder that fails after a while.
type cut struct{ error }

// Decode implements watch.Decoder.
func (c cut) Decode() (watch.EventType, runtime.Object, error) {
	time.Sleep(2 * time.Second)
	return "", nil, c.error
}

// Close implements watch.Decoder.
func (cut) Close() {}

// Such watches are resumed without a list.
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
				return watch.NewStreamWatcher(cut{err}, apierrors.NewClientErrorReporter(500, "GET", "")), nil
			}
			t.Cleanup(func() { time.Sleep(2 * time.Second) }) // the last decoder
			runInformer(t, server, &corev1.ConfigMap{})
			time.Sleep(time.Minute)
			log.want(t, `I… streamwatcher.go:…] `+message)
			expect.That(t, server.Lists() == 1, "%v: %d lists", err, server.Lists())
		})
	}
}

// The program has written version 3, and version 2 is on its way.
func TestAStoreThatSomebodyWritesInto(t *testing.T) {
	server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
	informer := runInformer(t, server, &corev1.ConfigMap{})
	w, store := server.NextWatch(), informer.GetStore()
	must.Until(t, "it has synced", informer.HasSynced) // version 1 comes before the write
	must.Do(t, store.Update(fakeapi.ConfigMap("a", "3")))
	w.Modify(fakeapi.ConfigMap("a", "2"))
	must.Until(t, "the store has the old one", func() bool {
		return store.List()[0].(*corev1.ConfigMap).ResourceVersion == "2"
	})
}

// The reflector has no clock of its own for a watch: it waits for the server to end it.
func TestASilentWatchStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, watches := fakeapi.New(), 0
		server.WatchFuncWithContext = func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			watches++
			timeout := *options.TimeoutSeconds
			expect.That(t, timeout >= 5*60 && timeout <= 10*60, "it asks for %d seconds", timeout)
			return watch.NewFake(), nil
		}
		runInformer(t, server, &corev1.ConfigMap{})
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		expect.That(t, watches == 1, "%d watches in a day, want 1", watches)
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
	})
}

func TestTooManyRequests(t *testing.T) {
	refuse := httpfault.Refuse(apierrors.NewTooManyRequests("too many requests, please try again later", 1))
	busy := answerer(func(request *http.Request) (*http.Response, error) { return refuse(request, nil) })
	for _, verbosity := range []int{1, 3, 4} {
		log := captureKlog(t, verbosity)
		synctest.Test(t, func(t *testing.T) {
			runConfigMaps(t, &rest.Config{Transport: busy}, "ns")
			time.Sleep(time.Minute)
			if verbosity == 1 && log.String() != "" || verbosity == 3 && strings.Contains(log.String(), "Retry-After") {
				t.Errorf("-v=%d: %s", verbosity, log)
			}
			if verbosity == 4 {
				log.want(t, `I… with_retry.go:…] "Got a Retry-After response" delay="1s" attempt=1 url="…"`)
				log.want(t, `I… reflector.go:…] "watch-list failed - backing off" … `+
					`err="the server has received too many requests and has asked us to try again later …`)
			}
		})
	}
}

func TestTheServerGoesAway(t *testing.T) {
	log := captureKlog(t, 4)
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		server.WatchFuncWithContext = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return nil, fmt.Errorf("dial tcp 192.0.2.1:6443: connect: %w", syscall.ECONNREFUSED)
		}
		runInformer(t, server, &corev1.ConfigMap{})
		log.want(t, `I… reflector.go:…] "Watch failed - backing off" … err="…: connect: connection refused"`)
		time.Sleep(time.Hour)
		expect.That(t, !strings.Contains(log.String(), "\nE") && server.Lists() == 1,
			"%d lists, and in the log:\n%s", server.Lists(), log)
	})
}

// The versions that a client knows are ahead of the server's, as when etcd was restored
// from a backup. No list fails, since the informer makes none.
func TestTheVersionIsTooLarge(t *testing.T) {
	log, s := captureKlog(t, 4), sessiontest.Open(t)
	const version = "999999999"
	err := s.Client.CoreV1().RESTClient().Get().Namespace(s.Namespace).Resource("configmaps").
		Param("resourceVersion", version).MaxRetries(0).Do(t.Context()).Error()
	if err == nil || !strings.Contains(err.Error(), "Timeout: Too large resource version: "+version+", current: ") {
		t.Errorf("a list: error %v", err)
	}
	var watches atomic.Int64
	informer := runInformer(t, selected(s.Client, "configmaps", s.Namespace, func(options *metav1.ListOptions) {
		options.TimeoutSeconds = new(int64(2))
		if options.SendInitialEvents == nil {
			options.ResourceVersion = version
			watches.Add(1)
		}
	}), &corev1.ConfigMap{})
	must.Until(t, "a watch", func() bool { return watches.Load() >= 1 })
	sessiontest.Kubectl(t, s, "create configmap unseen")
	before := watches.Load() // each lasts for two seconds, and kubectl may take longer
	must.Until(t, "two more", func() bool { return watches.Load() >= before+2 })
	log.want(t, `I… reflector.go:…] "Watch close" … totalItems=0`)
	keys := informer.GetStore().ListKeys()
	expect.That(t, len(keys) == 1, "the cache has %q, want only the cluster's own", keys)
}

func TestAVersionThatIsNoLongerServed(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create -f parcels.yaml")
	sessiontest.Kubectl(t, s, "create -f parcel.yaml")
	informer := runParcels(t, s, "v2", nil)
	must.Until(t, "it has synced", informer.HasSynced)
	sessiontest.Kubectl(t, s, "patch crd parcels."+s.Namespace+".example.com --type=json "+
		`-p=[{"op":"replace","path":"/spec/versions/1/served","value":false}]`)
	log.want(t, failedToWatch+`the server could not find the requested resource" …`)
	if keys := informer.GetStore().ListKeys(); len(keys) != 1 || !informer.HasSynced() {
		t.Errorf("synced: %t, the cache has %q; want both as before", informer.HasSynced(), keys)
	}
}

// The delay is 1.25 seconds, and a busy machine may add to it. client-go writes the line every ten seconds
// at most, by a clock that all tests share: in fake time it would be written once.
func TestClientSideThrottling(t *testing.T) {
	log := captureKlog(t, 0)
	refuse := httpfault.Refuse(apierrors.NewNotFound(corev1.Resource("pods"), "a"))
	server := answerer(func(request *http.Request) (*http.Response, error) { return refuse(request, nil) })
	client, err := kubernetes.NewForConfig(&rest.Config{Transport: server, QPS: 0.8, Burst: 1})
	must.Do(t, err)
	must.Run(t, func(ctx context.Context) {
		for ctx.Err() == nil {
			_, _ = client.CoreV1().Pods("ns").Get(ctx, "a", metav1.GetOptions{})
		}
	})
	log.want(t, `I… request.go:…] "Waited before sending request" delay="1.…s" `+
		`reason="client-side throttling, not priority and fairness" verb="GET" URL="…"`)
}

func TestTheTokenHasExpired(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	config := rest.AnonymousClientConfig(s.Config)
	config.BearerToken = "expired"
	runConfigMaps(t, config, s.Namespace)
	log.want(t, failedToWatch+`failed to list *v1.ConfigMap: Unauthorized" …`)
}
