// Not every cut leads to a list.

package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session/sessiontest"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The watch has brought something, and then all connections are closed as soon
// as they are accepted. The client takes that for a server that is about to be
// back, tries the watch again once a second, and misses nothing.
func TestAnInformerResumesWhereSomethingAcceptsItsConnections(t *testing.T) {
	s := sessiontest.Open(t)
	proxy, err := netfault.For(s.Config)
	must.Do(t, err)
	t.Cleanup(proxy.Close)
	var counter requests.Counter
	var tries atomic.Int32
	config := rest.CopyConfig(s.Config)
	config.Dial = proxy.Dial
	counter.Count(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			tries.Add(1)
			return next.RoundTrip(r)
		})
	})
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	events := make(chan string, 10)
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", s.Namespace,
			fields.OneTermEqualSelector("metadata.name", "one")),
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { events <- "OnAdd" },
			UpdateFunc: func(any, any) { events <- "OnUpdate" },
			DeleteFunc: func(obj any) { events <- fmt.Sprintf("OnDelete of a %T", obj) },
		},
	})
	must.Run(t, controller.RunWithContext)
	must.Until(t, "it has synced", controller.HasSynced)
	sessiontest.Kubectl(t, s, "create configmap one")
	if event := <-events; event != "OnAdd" { // the watch has brought something
		t.Errorf("got %s", event)
	}

	proxy.Cut()
	lists, before := counter.Lists(), tries.Load()
	sessiontest.Kubectl(t, s, "delete configmap one")
	must.Until(t, "it has tried three times", func() bool { return tries.Load() >= before+3 })
	proxy.Restore()
	if event := <-events; event != "OnDelete of a *v1.ConfigMap" || counter.Lists() != lists {
		t.Errorf("%d lists more, and %s; want none, and no tombstone", counter.Lists()-lists, event)
	}
}
