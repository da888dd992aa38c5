// What the pages of chapter 02 say about client-go and the API server, shown on
// the pinned version and the cluster at hand.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func deploymentYAML(t *testing.T) []byte {
	t.Helper()
	text, err := files.ReadFile("testdata/deployment.yaml")
	must.Do(t, err)
	return text
}

func TestAListWatchHasAllFourFunctions(t *testing.T) {
	lw := reflect.ValueOf(*cache.NewListWatchFromClient(nil, "pods", "default", fields.Everything()))
	for _, name := range []string{"ListFunc", "WatchFunc", "ListWithContextFunc", "WatchFuncWithContext"} {
		expect.That(t, !lw.FieldByName(name).IsNil(), "%s is not set", name)
	}
}

// Two requests to one path, which differ in one parameter. The second answer is a
// stream of events: one that can be decoded, and one that cannot.
func TestWhatAListWatchAsksTheServerFor(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String())
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1"}`)
			return
		}
		fmt.Fprint(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"}}}`,
			`{"type":"ADDED","object":{"kind":"Nonsense","apiVersion":"v1"}}`)
	}))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	must.Do(t, err)
	pods := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "ns",
		fields.OneTermEqualSelector("metadata.name", "web"))
	_, err = pods.ListWithContext(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	watcher, err := pods.WatchWithContext(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	defer watcher.Stop()
	got := cap(watcher.ResultChan())
	expect.That(t, got == 0, "the channel has room for %d events", got)
	var types []watch.EventType
	for event := range watcher.ResultChan() {
		types = append(types, event.Type)
	}
	if want := []watch.EventType{watch.Added, watch.Error}; !slices.Equal(types, want) {
		t.Errorf("events: %v, want %v", types, want)
	}
	client.CoreV1().RESTClient().(*rest.RESTClient).Client.CloseIdleConnections()
	server.Close()
	want := []string{
		"GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dweb",
		"GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dweb&watch=true",
	}
	expect.That(t, slices.Equal(asked, want), "asked for %q, want %q", asked, want)
}

// What a client accepts: the typed one, and the REST client in it.
func TestTheTypedClientAsksForProtobufAndAListWatchForJSON(t *testing.T) {
	var accept []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accept = append(accept, r.Header.Get("Accept"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1"}`)
	}))
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	must.Do(t, err)
	restClient := client.CoreV1().RESTClient()
	_, err = client.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	_, err = cache.NewListWatchFromClient(restClient, "pods", "ns", fields.Everything()).
		ListWithContext(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	restClient.(*rest.RESTClient).Client.CloseIdleConnections()
	server.Close()
	want := []string{"application/vnd.kubernetes.protobuf,application/json", "application/json, */*"}
	expect.That(t, slices.Equal(accept, want), "accepted %q, want %q", accept, want)
}

func TestClientGoLimitsItselfToFiveRequestsASecond(t *testing.T) {
	client := func(qps float32) *kubernetes.Clientset {
		c, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1", QPS: qps})
		must.Do(t, err)
		return c
	}
	core, apps := client(0).CoreV1().RESTClient().GetRateLimiter(), client(0).AppsV1().RESTClient().GetRateLimiter()
	expect.That(t, core.QPS() == 5 && apps.QPS() == 5 && core != apps,
		"core: %v, apps: %v requests a second; want 5 for each", core.QPS(), apps.QPS())
	expect.That(t, rest.DefaultBurst == 10, "burst %d, want 10", rest.DefaultBurst)
	limiter := client(-1).CoreV1().RESTClient().GetRateLimiter()
	expect.That(t, limiter == nil, "QPS -1 gives %v, want no limit", limiter)
}

func TestAWatchEndsByItselfAndClosesItsChannel(t *testing.T) {
	s := sessiontest.Open(t)
	watcher, err := s.Client.CoreV1().Pods(s.Namespace).Watch(t.Context(),
		metav1.ListOptions{TimeoutSeconds: new(int64(1))})
	must.Do(t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		t.Errorf("got %s, want no event, not even an error", event.Type)
	}
	for range 3 { // from now on a receive does not wait
		_, ok := <-watcher.ResultChan()
		expect.That(t, !ok, "an event from a closed watch")
	}
}

func TestTheEndOfItsContextIsAnErrorToAWatch(t *testing.T) {
	s := sessiontest.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watcher, err := s.Client.CoreV1().Pods(s.Namespace).Watch(ctx, metav1.ListOptions{})
	must.Do(t, err)
	defer watcher.Stop()
	cancel()
	event := <-watcher.ResultChan()
	err = apierrors.FromObject(event.Object)
	expect.That(t, event.Type == watch.Error && strings.Contains(err.Error(), "context canceled"),
		"got %q: %v, want an ERROR of the context's end", event.Type, err)
	event, ok := <-watcher.ResultChan()
	expect.That(t, !ok, "got %s after the error, want a closed channel", event.Type)
}

func TestAListHasNoKindsButAnUnstructuredOneHas(t *testing.T) {
	s := sessiontest.Open(t)
	typed, err := s.Client.CoreV1().ConfigMaps(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	client, err := dynamic.NewForConfig(s.Config)
	must.Do(t, err)
	untyped, err := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).
		Namespace(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	if len(typed.Items) == 0 || len(untyped.Items) == 0 {
		t.Fatal("nothing listed")
	}
	kind := typed.Items[0].Kind
	expect.That(t, kind == "", "typed: kind %q, want none", kind)
	kind = untyped.Items[0].GetKind()
	expect.That(t, kind == "ConfigMap", "untyped: kind %q, want ConfigMap", kind)
}

func TestWatchFromZeroSendsWhatExists(t *testing.T) {
	s := sessiontest.Open(t)
	watcher, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Watch(t.Context(),
		metav1.ListOptions{ResourceVersion: "0", TimeoutSeconds: new(int64(60))})
	must.Do(t, err)
	defer watcher.Stop()
	event := <-watcher.ResultChan()
	configMap, ok := event.Object.(*corev1.ConfigMap)
	expect.That(t, event.Type == watch.Added && ok && configMap.Name == "kube-root-ca.crt",
		"got %s %v, want ADDED kube-root-ca.crt", event.Type, event.Object)
}

func TestBookmarksComeOnlyIfAskedFor(t *testing.T) {
	s := sessiontest.Open(t)
	watcher, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Watch(t.Context(), metav1.ListOptions{
		LabelSelector:  "watch=me",
		TimeoutSeconds: new(int64(4)), // one would come after two seconds
	})
	must.Do(t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		t.Errorf("got %s, want nothing", event.Type)
	}
}

func TestAWatchFromATooOldVersionFailsInsideTheStream(t *testing.T) {
	s := sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create -f widgets.yaml")
	sessiontest.Kubectl(t, s, "get widgets."+s.Namespace+".example.com -o name") // waits until they are served
	client, err := dynamic.NewForConfig(s.Config)
	must.Do(t, err)
	widgets := client.Resource(schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1",
		Resource: "widgets"}).Namespace(s.Namespace)
	watcher, err := widgets.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	must.Do(t, err) // the HTTP status is 200
	defer watcher.Stop()

	event := <-watcher.ResultChan()
	status, ok := event.Object.(*metav1.Status)
	if !ok || event.Type != watch.Error || status.Code != 410 || status.Reason != metav1.StatusReasonExpired {
		t.Fatalf("got %s %+v, want an ERROR with the status 410 Expired", event.Type, event.Object)
	}
	if err := apierrors.FromObject(event.Object); apierrors.IsGone(err) || !apierrors.IsResourceExpired(err) {
		t.Errorf("IsGone: %t, IsResourceExpired: %t; want only the second",
			apierrors.IsGone(err), apierrors.IsResourceExpired(err))
	}
}

func TestApplyConflictsWithTheManagerThatCreated(t *testing.T) {
	s := sessiontest.Open(t)
	client, err := dynamic.NewForConfig(s.Config)
	must.Do(t, err)
	var deployment unstructured.Unstructured
	must.Do(t, yaml.Unmarshal(deploymentYAML(t), &deployment))
	deployments := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1",
		Resource: "deployments"}).Namespace(s.Namespace)
	_, err = deployments.Create(t.Context(), &deployment, metav1.CreateOptions{FieldManager: "creator"})
	must.Do(t, err)

	must.Do(t, unstructured.SetNestedField(deployment.Object, int64(2), "spec", "replicas"))
	_, err = deployments.Apply(t.Context(), "web", &deployment, metav1.ApplyOptions{FieldManager: "applier"})
	expect.That(t, apierrors.IsConflict(err) && strings.Contains(err.Error(), "creator"),
		"Apply() = %v, want a conflict with the creator", err)
	forced, err := deployments.Apply(t.Context(), "web", &deployment,
		metav1.ApplyOptions{FieldManager: "applier", Force: true})
	must.Do(t, err)
	expect.That(t, forced.GetGeneration() == 2, "generation %d after a forced apply, want 2", forced.GetGeneration())
}

// Decoding YAML into an Unstructured with sigs.k8s.io/yaml keeps whole numbers
// whole; plain JSON decoding into a map makes floats of them, and NestedInt64
// then refuses to read them.
func TestNumbersOfAnUnstructuredObject(t *testing.T) {
	var good unstructured.Unstructured
	must.Do(t, yaml.Unmarshal(deploymentYAML(t), &good))
	_, found, err := unstructured.NestedInt64(good.Object, "spec", "replicas")
	expect.That(t, found && err == nil, "found: %t, error: %v", found, err)
	asJSON, err := yaml.YAMLToJSON(deploymentYAML(t))
	must.Do(t, err)
	var bad map[string]any
	must.Do(t, json.Unmarshal(asJSON, &bad))
	_, _, err = unstructured.NestedInt64(bad, "spec", "replicas")
	expect.That(t, err != nil, "NestedInt64 read a float64")
}
