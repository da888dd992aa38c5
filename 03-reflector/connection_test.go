// Claims of the book about client-go's reflector and the connection to the server, tested on a
// cluster.

package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// configMaps returns a ListWatch of ConfigMaps, with a client of this configuration.
func configMaps(t *testing.T, config *rest.Config, namespace string) *cache.ListWatch {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	return cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", namespace, fields.Everything())
}

// wantResume breaks the connection of a reflector whose watch has sent an event. The reflector
// tries to watch again and again. When the server is back, the watch must resume without a list.
func wantResume(t *testing.T, fail func(*fault.Proxy)) {
	t.Helper()
	s := sessiontest.Open(t)
	proxy, err := fault.For(s.Config)
	must.NoError(t, err)
	t.Cleanup(proxy.Close)
	var asked fault.Requests
	config := rest.CopyConfig(s.Config)
	config.Dial = proxy.Dial
	config.Wrap(asked.Wrap)
	sessiontest.Kubectl(t, s, "create configmap doomed")
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	must.Run(t, cache.NewReflector(configMaps(t, config, s.Namespace), &corev1.ConfigMap{}, store, 0).RunWithContext)
	must.Until(t, "the first list", func() bool { return len(store.ListKeys()) == 2 })
	sessiontest.Kubectl(t, s, "create configmap one") // a reflector does not resume a watch without an event
	must.Until(t, "the first event", func() bool { return len(store.ListKeys()) == 3 })

	fail(proxy)
	must.Until(t, "three tries to watch", func() bool { return asked.Watches() >= 3 })
	sessiontest.Kubectl(t, s, "delete configmap doomed")
	if keys := store.ListKeys(); len(keys) != 3 {
		t.Errorf("while the server is away, the store has %q, want the same 3 objects as before", keys)
	}
	proxy.Restore()
	must.Until(t, "the delete", func() bool { return len(store.ListKeys()) == 2 })
	if lists := asked.Lists(); lists != 1 {
		t.Errorf("%d lists, want 1; all requests: %s", lists, &asked)
	}
}

// Nothing listens on the server's port.
func TestARefusedConnectionLeadsToNoRelist(t *testing.T) {
	wantResume(t, func(proxy *fault.Proxy) {
		proxy.Refuse()
		proxy.Reset()
	})
}

// Something closes each connection as soon as it has accepted it.
func TestAReflectorResumesWhereSomethingAcceptsItsConnections(t *testing.T) {
	wantResume(t, (*fault.Proxy).Cut)
}

// The server answers requests for a streamed list with an error, because it does not support them.
func TestAReflectorFallsBackToListWhereItCannotStream(t *testing.T) {
	s := sessiontest.Open(t)
	var asked fault.Requests
	config := rest.CopyConfig(s.Config)
	config.Wrap(asked.Wrap)
	asked.Add(fault.Rule{
		Matches: func(sent *fault.Request) bool { return sent.Verb == fault.WatchList },
		Answer:  fault.Refuse(apierrors.NewInvalid(schema.GroupKind{}, "", nil)),
	})
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	must.Run(t, cache.NewReflector(configMaps(t, config, s.Namespace), &corev1.ConfigMap{}, store, 0).RunWithContext)
	must.Until(t, "the list and the watch", func() bool { return len(store.ListKeys()) == 1 && asked.Watches() == 1 })
	got, want := asked.String(), "WATCH with the initial list 1, LIST 1, WATCH 1"
	if got != want {
		t.Errorf("requests: %s, want %s", got, want)
	}
}
