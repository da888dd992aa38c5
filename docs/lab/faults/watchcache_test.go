// The watch cache of an API server after a restart.

package faults

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/must"
)

// The watch cache begins when the API server starts. The API server refuses a watch from an older
// version, although etcd still has this version.
func TestARestartedAPIServerRefusesOldVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	env := startEnvironment(t)
	configMaps := env.client.CoreV1().ConfigMaps("default")
	var versions []string
	for _, name := range []string{"a", "b"} {
		o, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}},
			metav1.CreateOptions{})
		must.NoError(t, err)
		versions = append(versions, o.ResourceVersion)
	}
	firstEvent := func() watch.Event {
		w, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: versions[0]})
		must.NoError(t, err)
		defer w.Stop()
		return <-w.ResultChan()
	}
	event := firstEvent()
	if added, ok := event.Object.(*corev1.ConfigMap); !ok || event.Type != watch.Added || added.Name != "b" {
		t.Errorf("before the restart, the watch begins with %v, want ADDED for the ConfigMap b", event)
	}
	must.NoError(t, env.Kill(local.APIServer))
	must.NoError(t, env.Restart(t.Context(), local.APIServer))
	event = firstEvent()
	if event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
		t.Errorf("after the restart, the watch begins with %v, want ERROR with status 410", event)
	}
}
