// Claims of the book about LIST and WATCH, tested on the pinned version of client-go and on a
// cluster.

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// List and Watch call the same functions as the other two methods, with a context that never ends.
func TestListAndWatchOfAListWatchCannotBeCancelled(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var got []error // of the contexts
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			if ctx != ended && ctx.Done() != nil {
				t.Error("the context of List can end")
			}
			got = append(got, ctx.Err())
			return nil, nil
		},
		WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			if ctx != ended && ctx.Done() != nil {
				t.Error("the context of Watch can end")
			}
			got = append(got, ctx.Err())
			return nil, nil
		},
	}
	//lint:ignore SA1019 what it lacks is shown
	_, _ = lw.List(metav1.ListOptions{})
	//lint:ignore SA1019 what it lacks is shown
	_, _ = lw.Watch(metav1.ListOptions{})
	_, _ = lw.ListWithContext(ended, metav1.ListOptions{})
	_, _ = lw.WatchWithContext(ended, metav1.ListOptions{})
	if want := []error{nil, nil, context.Canceled, context.Canceled}; !slices.Equal(got, want) {
		t.Errorf("errors of the contexts: %v, want %v", got, want)
	}
}

// LIST and WATCH are two requests to one path, which differ in one parameter. The answer to WATCH
// is a stream of events. Here one event can be decoded, and one cannot.
func TestWhatAListWatchAsksTheServerFor(t *testing.T) {
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.String())
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
	must.NoError(t, err)
	pods := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "ns",
		fields.OneTermEqualSelector("metadata.name", "web"))
	_, err = pods.ListWithContext(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	watcher, err := pods.WatchWithContext(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	defer watcher.Stop()
	if got := cap(watcher.ResultChan()); got != 0 {
		t.Errorf("cap(ResultChan()) = %d, want 0", got)
	}
	var types []watch.EventType
	for event := range watcher.ResultChan() {
		types = append(types, event.Type)
	}
	if want := []watch.EventType{watch.Added, watch.Error}; !slices.Equal(types, want) {
		t.Errorf("types of the events: %v, want %v", types, want)
	}
	client.CoreV1().RESTClient().(*rest.RESTClient).Client.CloseIdleConnections()
	server.Close()
	want := []string{
		"GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dweb",
		"GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dweb&watch=true",
	}
	if !slices.Equal(requests, want) {
		t.Errorf("requests %q, want %q", requests, want)
	}
}

func TestAWatchEndsByItselfAndClosesItsChannel(t *testing.T) {
	s := sessiontest.Open(t)
	watcher, err := s.Client.CoreV1().Pods(s.Namespace).Watch(t.Context(),
		metav1.ListOptions{TimeoutSeconds: new(int64(1))})
	must.NoError(t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		t.Errorf("received %s, want no event, not even an error", event.Type)
	}
	for range 3 { // from now on, a receive does not wait
		event, ok := <-watcher.ResultChan()
		if ok {
			t.Errorf("received %s from a watch that has ended, want a closed channel", event.Type)
		}
	}
}

func TestTheEndOfItsContextIsAnErrorToAWatch(t *testing.T) {
	s := sessiontest.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watcher, err := s.Client.CoreV1().Pods(s.Namespace).Watch(ctx, metav1.ListOptions{})
	must.NoError(t, err)
	defer watcher.Stop()
	cancel()
	event := <-watcher.ResultChan()
	err = apierrors.FromObject(event.Object)
	if event.Type != watch.Error || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("received %q with the error %q, want ERROR with %q", event.Type, err, "context canceled")
	}
	event, ok := <-watcher.ResultChan()
	if ok {
		t.Errorf("received %s after the error, want a closed channel", event.Type)
	}
}

func TestWatchFromZeroSendsWhatExists(t *testing.T) {
	s := sessiontest.Open(t)
	for _, version := range []string{"", "0"} {
		watcher, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Watch(t.Context(),
			metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: new(int64(60))})
		must.NoError(t, err)
		defer watcher.Stop()
		event := <-watcher.ResultChan()
		configMap, ok := event.Object.(*corev1.ConfigMap)
		if event.Type != watch.Added || !ok || configMap.Name != "kube-root-ca.crt" {
			t.Errorf("from %q: received %s %v, want ADDED kube-root-ca.crt", version, event.Type, event.Object)
		}
	}
}

func TestBookmarksComeOnlyIfAskedFor(t *testing.T) {
	s := sessiontest.Open(t)
	watcher, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Watch(t.Context(), metav1.ListOptions{
		LabelSelector:  "watch=me",
		TimeoutSeconds: new(int64(4)), // a bookmark would come after two seconds
	})
	must.NoError(t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		t.Errorf("received %s, want no event", event.Type)
	}
}

// Events have no watch cache, which sends the bookmarks of other resources.
func TestAWatchOfEventsGetsNoBookmarks(t *testing.T) {
	s := sessiontest.Open(t)
	list, err := s.Client.CoreV1().Events(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	watcher, err := s.Client.CoreV1().Events(s.Namespace).Watch(t.Context(), metav1.ListOptions{
		LabelSelector:       "watch=me",
		ResourceVersion:     list.ResourceVersion,
		AllowWatchBookmarks: true,
		TimeoutSeconds:      new(int64(5)), // as in the step bookmark
	})
	must.NoError(t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		t.Errorf("received %s, want no event", event.Type)
	}
}

func TestAWatchFromATooOldVersionFailsInsideTheStream(t *testing.T) {
	s := sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create -f widgets.yaml")
	sessiontest.Kubectl(t, s, "get widgets."+s.Namespace+".example.com -o name") // waits until they are served
	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	widgets := client.Resource(schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1",
		Resource: "widgets"}).Namespace(s.Namespace)
	watcher, err := widgets.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	must.NoError(t, err) // the HTTP status is 200
	defer watcher.Stop()

	event := <-watcher.ResultChan()
	status, ok := event.Object.(*metav1.Status)
	if !ok || event.Type != watch.Error {
		t.Fatalf("received %s %+v, want ERROR with a Status", event.Type, event.Object)
	}
	if status.Code != 410 || status.Reason != metav1.StatusReasonExpired {
		t.Errorf("the status is %d %s, want %d %s", status.Code, status.Reason, 410, metav1.StatusReasonExpired)
	}
	err = apierrors.FromObject(event.Object)
	if apierrors.IsGone(err) {
		t.Errorf("IsGone(%v) = true, want false", err)
	}
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("IsResourceExpired(%v) = false, want true", err)
	}
	event, open := <-watcher.ResultChan()
	if open {
		t.Errorf("received %s %+v after the error, want a closed channel", event.Type, event.Object)
	}
}

// The version of a list is newer than the versions of its items if something else was written
// last. A watch from the newest item sends the events of this write, though the list was after it.
func TestAListIsNewerThanItsItems(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	const selector = "watch=me"
	for _, name := range []string{"stays", "gone"} {
		_, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"watch": "me"}}}, metav1.CreateOptions{})
		must.NoError(t, err)
	}
	must.NoError(t, configMaps.Delete(t.Context(), "gone", metav1.DeleteOptions{}))
	list, err := configMaps.List(t.Context(), metav1.ListOptions{LabelSelector: selector})
	must.NoError(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("the list has %d items, want 1", len(list.Items))
	}
	highest := list.Items[0].ResourceVersion
	order, err := resourceversion.CompareResourceVersion(highest, list.ResourceVersion)
	must.NoError(t, err)
	if order >= 0 {
		t.Errorf("the item has version %s, the list %s, want a newer list", highest, list.ResourceVersion)
	}
	watcher, err := configMaps.Watch(t.Context(), metav1.ListOptions{
		LabelSelector: selector, ResourceVersion: highest, TimeoutSeconds: new(int64(60))})
	must.NoError(t, err)
	defer watcher.Stop()
	for _, want := range []watch.EventType{watch.Added, watch.Deleted} {
		event := <-watcher.ResultChan()
		configMap, ok := event.Object.(*corev1.ConfigMap)
		if !ok || event.Type != want || configMap.Name != "gone" {
			t.Errorf("received %s %v, want %s gone", event.Type, event.Object, want)
		}
	}
}

// One update changes the label and the data. The event shows neither change, but its version. The
// event of a delete has a version of its own, too.
func TestTheStateOfAnObjectThatNoLongerMatches(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	before, err := configMaps.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"app": "web"}},
		Data:       map[string]string{"colour": "red"},
	}, metav1.CreateOptions{})
	must.NoError(t, err)
	watcher, err := configMaps.Watch(t.Context(), metav1.ListOptions{
		LabelSelector: "app=web", ResourceVersion: before.ResourceVersion, TimeoutSeconds: new(int64(60))})
	must.NoError(t, err)
	defer watcher.Stop()
	after := before.DeepCopy()
	after.Labels["app"], after.Data["colour"] = "api", "blue"
	after, err = configMaps.Update(t.Context(), after, metav1.UpdateOptions{})
	must.NoError(t, err)
	event := <-watcher.ResultChan()
	got, ok := event.Object.(*corev1.ConfigMap)
	if !ok || event.Type != watch.Deleted {
		t.Fatalf("received %s %v, want DELETED with a ConfigMap", event.Type, event.Object)
	}
	if got.Labels["app"] != "web" || got.Data["colour"] != "red" {
		t.Errorf("the event has %v and %v, want the state before the update: app=web, red", got.Labels, got.Data)
	}
	if got.ResourceVersion != after.ResourceVersion {
		t.Errorf("the event has version %s, want %s, the version of the update",
			got.ResourceVersion, after.ResourceVersion)
	}

	after.Labels["app"] = "web"
	last, err := configMaps.Update(t.Context(), after, metav1.UpdateOptions{})
	must.NoError(t, err)
	must.NoError(t, configMaps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	for _, want := range []watch.EventType{watch.Added, watch.Deleted} {
		event = <-watcher.ResultChan()
		got, ok = event.Object.(*corev1.ConfigMap)
		if !ok || event.Type != want || got.Data["colour"] != "blue" {
			t.Fatalf("received %s %v, want %s with the last state", event.Type, event.Object, want)
		}
	}
	order, err := resourceversion.CompareResourceVersion(last.ResourceVersion, got.ResourceVersion)
	must.NoError(t, err)
	if order >= 0 {
		t.Errorf("the event of the delete has version %s, want a newer one than %s",
			got.ResourceVersion, last.ResourceVersion)
	}
}
