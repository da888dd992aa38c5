// Claims of the page docs/02-listwatch-clients.md about writes.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// colours returns a ConfigMap without a version.
func colours() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "colours"}}
}

// The server of this test answers all requests with the same object, in version 7.
func TestWhatAWriteSends(t *testing.T) {
	type request struct{ Method, Path, ResourceVersion string }
	var sent []request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var object metav1.PartialObjectMetadata
		if err := json.NewDecoder(r.Body).Decode(&object); err != nil {
			t.Errorf("decoding the body of %s %s: %v", r.Method, r.URL.Path, err)
		}
		sent = append(sent, request{r.Method, r.URL.Path, object.ResourceVersion})
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"colours","resourceVersion":"7"}}`)
	}))
	config := &rest.Config{Host: server.URL}
	config.ContentType = "application/json" // the test cannot read protobuf
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	configMaps := client.CoreV1().ConfigMaps("ns")
	created, err := configMaps.Create(t.Context(), colours(), metav1.CreateOptions{})
	must.NoError(t, err)
	_, err = configMaps.Update(t.Context(), created, metav1.UpdateOptions{})
	must.NoError(t, err)
	must.NoError(t, configMaps.Delete(t.Context(), "colours", metav1.DeleteOptions{}))
	client.CoreV1().RESTClient().(*rest.RESTClient).Client.CloseIdleConnections()
	server.Close()
	want := []request{
		{Method: "POST", Path: "/api/v1/namespaces/ns/configmaps", ResourceVersion: ""},
		{Method: "PUT", Path: "/api/v1/namespaces/ns/configmaps/colours", ResourceVersion: "7"},
		{Method: "DELETE", Path: "/api/v1/namespaces/ns/configmaps/colours", ResourceVersion: ""},
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestRetryOnConflictTriesFiveTimes(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "colours", errors.New("modified"))
	for _, test := range []struct {
		err       error
		wantCalls int
	}{
		{conflict, 5},
		{fmt.Errorf("painting: %w", conflict), 5},
		{errors.New("something else"), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var calls []time.Time
			err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
				calls = append(calls, time.Now())
				return test.err
			})
			if len(calls) != test.wantCalls {
				t.Errorf("%v: %d calls, want %d", test.err, len(calls), test.wantCalls)
			}
			for i := range len(calls) - 1 {
				pause := calls[i+1].Sub(calls[i])
				if pause < 10*time.Millisecond || pause > 11*time.Millisecond {
					t.Errorf("%v: a pause of %v, want 10 to 11 ms", test.err, pause)
				}
			}
			if !errors.Is(err, test.err) {
				t.Errorf("RetryOnConflict() = %v, want %v", err, test.err)
			}
		})
	}
}

func TestWhetherAnUpdateNeedsAVersion(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	_, err := configMaps.Create(t.Context(), colours(), metav1.CreateOptions{})
	must.NoError(t, err)
	_, err = configMaps.Patch(t.Context(), "colours", types.MergePatchType, []byte(`{"data":{"sky":"red"}}`),
		metav1.PatchOptions{}) // somebody else
	must.NoError(t, err)
	mine := colours()
	mine.Data = map[string]string{"grass": "green"}
	updated, err := configMaps.Update(t.Context(), mine, metav1.UpdateOptions{})
	must.NoError(t, err)
	if diff := cmp.Diff(mine.Data, updated.Data); diff != "" {
		t.Errorf("the ConfigMap after an update without a version (-want +got):\n%s", diff)
	}

	sessiontest.Kubectl(t, s, "create -f widgets.yaml")
	sessiontest.Kubectl(t, s, "get widgets."+s.Namespace+".example.com -o name") // waits until they are served
	sessiontest.Kubectl(t, s, "create -f gear.yaml")
	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	widgets := client.Resource(schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1",
		Resource: "widgets"}).Namespace(s.Namespace)
	gear, err := widgets.Get(t.Context(), "gear", metav1.GetOptions{})
	must.NoError(t, err)
	gear.SetResourceVersion("")
	_, err = widgets.Update(t.Context(), gear, metav1.UpdateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("Update() of a custom resource without a version = %v, want the error Invalid", err)
	}
}

func TestADeleteCanHavePreconditions(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	first, err := configMaps.Create(t.Context(), colours(), metav1.CreateOptions{})
	must.NoError(t, err)
	must.NoError(t, configMaps.Delete(t.Context(), "colours", *metav1.NewPreconditionDeleteOptions(string(first.UID))))
	second, err := configMaps.Create(t.Context(), colours(), metav1.CreateOptions{}) // the same name
	must.NoError(t, err)
	err = configMaps.Delete(t.Context(), "colours", *metav1.NewPreconditionDeleteOptions(string(first.UID)))
	if !apierrors.IsConflict(err) {
		t.Errorf("Delete() with the UID of the first object = %v, want the error Conflict", err)
	}
	_, err = configMaps.Update(t.Context(), first, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		t.Errorf("Update() of the first object = %v, want the error Conflict", err)
	}
	changed, err := configMaps.Patch(t.Context(), "colours", types.MergePatchType, []byte(`{"data":{"sky":"red"}}`),
		metav1.PatchOptions{})
	must.NoError(t, err)
	precondition := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &second.UID,
		ResourceVersion: &second.ResourceVersion}}
	if err := configMaps.Delete(t.Context(), "colours", precondition); !apierrors.IsConflict(err) {
		t.Errorf("Delete() with the version from before the change = %v, want the error Conflict", err)
	}
	precondition.Preconditions.ResourceVersion = &changed.ResourceVersion
	must.NoError(t, configMaps.Delete(t.Context(), "colours", precondition))
}

// The object keeps its version, and a watch sends no event.
func TestAWriteThatChangesNothingIsNotStored(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	created, err := configMaps.Create(t.Context(), colours(), metav1.CreateOptions{})
	must.NoError(t, err)
	w, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion,
		FieldSelector: "metadata.name=colours"})
	must.NoError(t, err)
	defer w.Stop()
	patch := func(data string) (*corev1.ConfigMap, error) {
		return configMaps.Patch(t.Context(), "colours", types.MergePatchType, []byte(data), metav1.PatchOptions{})
	}

	updated, err := configMaps.Update(t.Context(), created, metav1.UpdateOptions{})
	must.NoError(t, err)
	patched, err := patch(`{"metadata":{"annotations":null}}`)
	must.NoError(t, err)
	for call, got := range map[string]*corev1.ConfigMap{"Update": updated, "Patch": patched} {
		if got.ResourceVersion != created.ResourceVersion {
			t.Errorf("%s() returns version %s, want %s as before", call, got.ResourceVersion, created.ResourceVersion)
		}
	}
	changed, err := patch(`{"data":{"sky":"blue"}}`) // the first event is for this change
	must.NoError(t, err)
	event := <-w.ResultChan()
	got, ok := event.Object.(*corev1.ConfigMap)
	if !ok || got.ResourceVersion != changed.ResourceVersion {
		t.Errorf("the watch sends %v, want version %s", event, changed.ResourceVersion)
	}
}

func TestAPatchIsRefusedOnlyForItsVersion(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	created, err := configMaps.Create(t.Context(), colours(), metav1.CreateOptions{})
	must.NoError(t, err)
	patch := func(data string) (*corev1.ConfigMap, error) {
		return configMaps.Patch(t.Context(), "colours", types.MergePatchType, []byte(data), metav1.PatchOptions{})
	}
	_, err = patch(`{"data":{"sky":"blue"}}`)
	must.NoError(t, err)
	patched, err := patch(`{"data":{"grass":"green"}}`)
	must.NoError(t, err)
	if diff := cmp.Diff(map[string]string{"sky": "blue", "grass": "green"}, patched.Data); diff != "" {
		t.Errorf("data after two patches without a version (-want +got):\n%s", diff)
	}
	_, err = patch(fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"data":{"sky":"red"}}`, created.ResourceVersion))
	if !apierrors.IsConflict(err) {
		t.Errorf("Patch() with the version of the first state = %v, want the error Conflict", err)
	}
}
