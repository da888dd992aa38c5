// What the page docs/02-listwatch-clients.md says about writes.

package main

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func colours(version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "colours", ResourceVersion: version}}
}

func TestRetryOnConflictTriesFiveTimes(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "colours", errors.New("modified"))
	for _, c := range []struct {
		err  error
		want int
	}{
		{conflict, 5},
		{fmt.Errorf("painting: %w", conflict), 5},
		{errors.New("something else"), 1},
	} {
		calls := 0
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error { calls++; return c.err })
		expect.That(t, calls == c.want && errors.Is(err, c.err),
			"%d calls, then %v; want %d, then %v", calls, err, c.want, c.err)
	}
}

func TestWhetherAnUpdateNeedsAVersion(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	_, err := configMaps.Create(t.Context(), colours(""), metav1.CreateOptions{})
	must.Do(t, err)
	_, err = configMaps.Update(t.Context(), colours(""), metav1.UpdateOptions{})
	must.Do(t, err) // a ConfigMap does not

	sessiontest.Kubectl(t, s, "create -f widgets.yaml")
	sessiontest.Kubectl(t, s, "get widgets."+s.Namespace+".example.com -o name") // waits until they are served
	sessiontest.Kubectl(t, s, "create -f gear.yaml")
	client, err := dynamic.NewForConfig(s.Config)
	must.Do(t, err)
	widgets := client.Resource(schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1",
		Resource: "widgets"}).Namespace(s.Namespace)
	gear, err := widgets.Get(t.Context(), "gear", metav1.GetOptions{})
	must.Do(t, err)
	gear.SetResourceVersion("")
	_, err = widgets.Update(t.Context(), gear, metav1.UpdateOptions{})
	expect.That(t, apierrors.IsInvalid(err), "Update() = %v, want that a custom resource needs one", err)
}

func TestADeleteCanHavePreconditions(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	first, err := configMaps.Create(t.Context(), colours(""), metav1.CreateOptions{})
	must.Do(t, err)
	must.Do(t, configMaps.Delete(t.Context(), "colours", *metav1.NewPreconditionDeleteOptions(string(first.UID))))
	_, err = configMaps.Create(t.Context(), colours(""), metav1.CreateOptions{}) // another one, of the same name
	must.Do(t, err)
	err = configMaps.Delete(t.Context(), "colours", *metav1.NewPreconditionDeleteOptions(string(first.UID)))
	expect.That(t, apierrors.IsConflict(err), "Delete() = %v, want a conflict: this is not the first any more", err)
	_, err = configMaps.Update(t.Context(), first, metav1.UpdateOptions{})
	expect.That(t, apierrors.IsConflict(err), "Update() = %v, want a conflict", err)
}
