// Claims of the book about lists that are streamed, tested on the pinned version of client-go, without a
// cluster.

package main

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A reflector that streams sends no LIST.
func TestTheStreamCanBeTurnedOff(t *testing.T) {
	const gate = "KUBE_FEATURE_WatchListClient"
	lists := func(t *testing.T, lw func(*fakeapi.Server) cache.ListerWatcher) int {
		server, store := fakeapi.New(), cache.NewStore(cache.MetaNamespaceKeyFunc)
		must.Run(t, cache.NewReflector(lw(server), &corev1.ConfigMap{}, store, 0).RunWithContext)
		server.NextWatch()
		return server.Lists()
	}
	plain := func(s *fakeapi.Server) cache.ListerWatcher { return s.ListWatch }
	if os.Getenv(gate) == "false" {
		if got := lists(t, plain); got != 1 {
			t.Errorf("with %s=false: %d LISTs, want 1", gate, got)
		}
		return
	}
	for _, test := range []struct {
		name string
		lw   func(*fakeapi.Server) cache.ListerWatcher
		want int
	}{
		{"a plain ListWatch", plain, 0},
		{"a ListWatch with the method", func(s *fakeapi.Server) cache.ListerWatcher {
			return cannotStream{s.ListWatch}
		}, 1},
		{"a client with the method", func(s *fakeapi.Server) cache.ListerWatcher {
			return cache.ToListWatcherWithWatchListSemantics(s.ListWatch, fake.NewClientset())
		}, 1},
	} {
		if got := lists(t, test.lw); got != test.want {
			t.Errorf("%s: %d LISTs, want %d", test.name, got, test.want)
		}
	}
	output, err := must.RunInSubprocess(t, t.Name(), gate+"=false")
	if err != nil {
		t.Errorf("with %s=false, the test ends with %v, want nil; its output:\n%s", gate, err, output)
	}
}
