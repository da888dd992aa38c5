// Not every cut leads to a list.

package main

import (
	"net/http"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/scripts/harness/netfault"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The watch has brought something, and then all connections are closed as soon
// as they are accepted. The client takes that for a server that is about to be
// back, tries the watch again once a second, and misses nothing.
func TestAnInformerResumesWhereSomethingAcceptsItsConnections(t *testing.T) {
	s := kubetest.Open(t)
	proxy, err := netfault.For(s.Config)
	must(t, err)
	t.Cleanup(proxy.Close)
	var asked requests.Counter
	var tries atomic.Int32
	remote, err := s.With(func(c *rest.Config) {
		c.Dial = proxy.Dial
		asked.Count(c)
		c.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				tries.Add(1)
				return next.RoundTrip(r)
			})
		})
	})
	must(t, err)
	t.Cleanup(remote.Cluster.Close)
	var told kube.Transcript
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: remote.OwnConfigMaps(), ObjectType: &corev1.ConfigMap{},
		Handler: calls.Print(told.Printf, calls.Data),
	})
	inBackground(t, controller.RunWithContext)
	must(t, flow.Until(t.Context(), "it has synced", controller.HasSynced))
	must(t, s.CreateConfigMapWith(t.Context(), "one", "sky", "blue"))
	must(t, flow.Until(t.Context(), "the watch has brought something", func() bool { return lines(&told) == 1 }))

	proxy.Cut()
	lists, before := asked.Lists(), tries.Load()
	must(t, s.DeleteConfigMap(t.Context(), "one"))
	must(t, flow.Until(t.Context(), "it has tried three times", func() bool { return tries.Load() >= before+3 }))
	proxy.Restore()
	must(t, flow.Until(t.Context(), "it has told of the delete", func() bool { return lines(&told) == 2 }))
	want := "OnAdd : one : [sky=blue]\nOnDelete : one : [sky=blue]\n"
	if told.Text() != want || asked.Lists() != lists {
		t.Errorf("%d lists more, and told of\n%swant none, and\n%s", asked.Lists()-lists, told.Text(), want)
	}
}
