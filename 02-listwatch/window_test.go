// Claims of the book about the watch cache: from which old version a watch can begin.

package main

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// The window of the watch cache holds 100 changes at first. It grows as long as its changes are
// recent.
func TestAWatchCanStartHundredsOfRecentChangesBack(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	first, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "busy"}},
		metav1.CreateOptions{})
	must.NoError(t, err)
	const changes = 300
	for i := range changes {
		_, err := configMaps.Patch(t.Context(), "busy", types.MergePatchType,
			fmt.Appendf(nil, `{"data":{"change":"%d"}}`, i), metav1.PatchOptions{})
		must.NoError(t, err)
	}
	watcher, err := configMaps.Watch(t.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=busy", ResourceVersion: first.ResourceVersion})
	must.NoError(t, err)
	defer watcher.Stop()
	for i := range changes {
		event := <-watcher.ResultChan()
		configMap, ok := event.Object.(*corev1.ConfigMap)
		if !ok || event.Type != watch.Modified {
			t.Fatalf("event %d is %s %v, want MODIFIED with a ConfigMap", i, event.Type, event.Object)
		}
		if got, want := configMap.Data["change"], strconv.Itoa(i); got != want {
			t.Fatalf("event %d has change %q, want %q", i, got, want)
		}
	}
}
