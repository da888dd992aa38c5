// Claims of the book about client-go's clients, tested on the pinned version and on a cluster.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// deploymentYAML returns the text of testdata/deployment.yaml.
func deploymentYAML(t *testing.T) []byte {
	t.Helper()
	text, err := files.ReadFile("testdata/deployment.yaml")
	must.NoError(t, err)
	return text
}

// The header Accept of a request of the typed client, and of its REST client.
func TestTheTypedClientAsksForProtobufAndAListWatchForJSON(t *testing.T) {
	var accept []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accept = append(accept, r.Header.Get("Accept"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1"}`)
	}))
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	must.NoError(t, err)
	restClient := client.CoreV1().RESTClient()
	_, err = client.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	_, err = cache.NewListWatchFromClient(restClient, "pods", "ns", fields.Everything()).
		ListWithContext(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	restClient.(*rest.RESTClient).Client.CloseIdleConnections()
	server.Close()
	want := []string{"application/vnd.kubernetes.protobuf,application/json", "application/json, */*"}
	if !slices.Equal(accept, want) {
		t.Errorf("headers Accept: %q, want %q", accept, want)
	}
}

func TestClientGoLimitsItselfToFiveRequestsASecond(t *testing.T) {
	client := func(qps float32) *kubernetes.Clientset {
		c, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1", QPS: qps})
		must.NoError(t, err)
		return c
	}
	core := client(0).CoreV1().RESTClient().GetRateLimiter()
	apps := client(0).AppsV1().RESTClient().GetRateLimiter()
	if got := core.QPS(); got != 5 {
		t.Errorf("the default QPS of core/v1 is %v, want 5", got)
	}
	if got := apps.QPS(); got != 5 {
		t.Errorf("the default QPS of apps/v1 is %v, want 5", got)
	}
	if core == apps {
		t.Error("core/v1 and apps/v1 share a rate limiter, want one for each")
	}
	for name, test := range map[string]struct {
		client func() rest.Interface
		want   int
	}{
		"core/v1":   {func() rest.Interface { return client(0).CoreV1().RESTClient() }, 10},
		"discovery": {func() rest.Interface { return client(0).Discovery().RESTClient() }, 300},
	} {
		synctest.Test(t, func(t *testing.T) { // time stands still
			burst := 0
			for limiter := test.client().GetRateLimiter(); limiter.TryAccept(); {
				burst++
			}
			if burst != test.want {
				t.Errorf("%s: a burst of %d requests, want %d", name, burst, test.want)
			}
		})
	}
	if limiter := client(-1).CoreV1().RESTClient().GetRateLimiter(); limiter != nil {
		t.Errorf("the rate limiter with QPS -1 is %v, want nil", limiter)
	}
}

// A clientset with a QPS of its own needs a Burst. Then its API group versions share one limiter.
func TestAQPSNeedsABurst(t *testing.T) {
	_, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1", QPS: 50})
	if err == nil || !strings.Contains(err.Error(), "burst is required") {
		t.Errorf("NewForConfig() with QPS and without Burst: error %v, want one with %q", err, "burst is required")
	}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1", QPS: 50, Burst: 100})
	must.NoError(t, err)
	if client.CoreV1().RESTClient().GetRateLimiter() != client.AppsV1().RESTClient().GetRateLimiter() {
		t.Error("core/v1 and apps/v1 have two rate limiters, want one")
	}
}

// The limit of this client is used up after one request.
func TestAWatchIsNotRateLimited(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1"}`)
		}
	}))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: 1e-6, Burst: 1})
	must.NoError(t, err)
	defer client.CoreV1().RESTClient().(*rest.RESTClient).Client.CloseIdleConnections()
	pods := client.CoreV1().Pods("ns")
	_, err = pods.List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), sessiontest.Patience)
	defer cancel()
	_, err = pods.List(ctx, metav1.ListOptions{}) // it fails without waiting for the deadline
	if err == nil || !strings.Contains(err.Error(), "client rate limiter") {
		t.Errorf("the second List() = %v, want an error of the client rate limiter", err)
	}
	for _, sendInitialEvents := range []*bool{nil, new(true)} {
		watcher, err := pods.Watch(ctx, metav1.ListOptions{SendInitialEvents: sendInitialEvents})
		if err != nil {
			t.Errorf("Watch() = %v, want no error", err)
			continue
		}
		watcher.Stop()
	}
}

func TestAListHasNoKindsButAnUnstructuredOneHas(t *testing.T) {
	s := sessiontest.Open(t)
	typed, err := s.Client.CoreV1().ConfigMaps(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	untyped, err := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).
		Namespace(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	if len(typed.Items) == 0 || len(untyped.Items) == 0 {
		t.Fatalf("listed %d typed and %d unstructured objects, want at least 1 of each",
			len(typed.Items), len(untyped.Items))
	}
	if kind := typed.Items[0].Kind; kind != "" {
		t.Errorf("kind of a typed object: %q, want none", kind)
	}
	if kind := untyped.Items[0].GetKind(); kind != "ConfigMap" {
		t.Errorf("kind of an unstructured object: %q, want %q", kind, "ConfigMap")
	}
}

func TestApplyConflictsWithTheManagerThatCreated(t *testing.T) {
	s := sessiontest.Open(t)
	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	var deployment unstructured.Unstructured
	must.NoError(t, yaml.Unmarshal(deploymentYAML(t), &deployment))
	deployments := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1",
		Resource: "deployments"}).Namespace(s.Namespace)
	_, err = deployments.Create(t.Context(), &deployment, metav1.CreateOptions{FieldManager: "creator"})
	must.NoError(t, err)

	_, err = deployments.Apply(t.Context(), "web", &deployment, metav1.ApplyOptions{FieldManager: "applier"})
	must.NoError(t, err) // the same values are not a conflict
	must.NoError(t, unstructured.SetNestedField(deployment.Object, int64(2), "spec", "replicas"))
	_, err = deployments.Apply(t.Context(), "web", &deployment, metav1.ApplyOptions{FieldManager: "applier"})
	const conflict = `1 conflict: conflict with "creator" using apps/v1: .spec.replicas`
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), conflict) {
		t.Errorf("Apply() = %v, want %s", err, conflict)
	}
	forced, err := deployments.Apply(t.Context(), "web", &deployment,
		metav1.ApplyOptions{FieldManager: "applier", Force: true})
	must.NoError(t, err)
	if got := forced.GetGeneration(); got != 2 {
		t.Errorf("generation %d after a forced apply, want 2", got)
	}
}

// sigs.k8s.io/yaml decodes whole numbers of an Unstructured as int64. Package encoding/json decodes
// them into a map as float64, which NestedInt64 refuses.
func TestNumbersOfAnUnstructuredObject(t *testing.T) {
	var deployment unstructured.Unstructured
	must.NoError(t, yaml.Unmarshal(deploymentYAML(t), &deployment))
	replicas, found, err := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
	if !found || err != nil {
		t.Errorf("decoded by sigs.k8s.io/yaml: NestedInt64() = %d, %t, %v; want a number, true, nil",
			replicas, found, err)
	}
	asJSON, err := yaml.YAMLToJSON(deploymentYAML(t))
	must.NoError(t, err)
	var decoded map[string]any
	must.NoError(t, json.Unmarshal(asJSON, &decoded))
	replicas, found, err = unstructured.NestedInt64(decoded, "spec", "replicas")
	if err == nil {
		t.Errorf("decoded by encoding/json: NestedInt64() = %d, %t, nil; want an error", replicas, found)
	}
}
