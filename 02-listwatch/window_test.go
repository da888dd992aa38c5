// Claims of the book about the watch cache: from which old version a watch can begin.

package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// windowOfWidgets returns for how many changes of widgets the watch cache has room: a metric of the
// API server.
func windowOfWidgets(t *testing.T, s *session.Session) int {
	t.Helper()
	metrics, err := s.Client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	must.NoError(t, err)
	name := fmt.Sprintf("watch_cache_capacity{group=%q,resource=%q} ", s.Namespace+".example.com", "widgets")
	_, after, _ := strings.Cut(string(metrics), "\n"+name)
	number, _, _ := strings.Cut(after, "\n")
	window, err := strconv.Atoi(number)
	must.NoError(t, err)
	return window
}

// The window of the watch cache holds 100 changes at first. It is doubled as long as its changes
// are recent.
func TestTheWindowOfAWatchCacheIsDoubled(t *testing.T) {
	s := sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create -f widgets.yaml") // a watch cache of its own
	sessiontest.Kubectl(t, s, "get widgets."+s.Namespace+".example.com -o name")
	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	widgets := client.Resource(schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1",
		Resource: "widgets"}).Namespace(s.Namespace)
	if got := windowOfWidgets(t, s); got != 100 {
		t.Errorf("before the first change, the window has room for %d changes, want 100", got)
	}

	sessiontest.Kubectl(t, s, "create -f gear.yaml")
	first, err := widgets.Get(t.Context(), "gear", metav1.GetOptions{})
	must.NoError(t, err)
	const changes = 250
	for i := range changes {
		_, err := widgets.Patch(t.Context(), "gear", types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{"change":"%d"}}}`, i), metav1.PatchOptions{})
		must.NoError(t, err)
	}
	watcher, err := widgets.Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.GetResourceVersion()})
	must.NoError(t, err)
	defer watcher.Stop()
	for i := range changes {
		event := <-watcher.ResultChan()
		widget, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type != watch.Modified {
			t.Fatalf("event %d is %s %v, want MODIFIED with a widget", i, event.Type, event.Object)
		}
		if got, want := widget.GetAnnotations()["change"], strconv.Itoa(i); got != want {
			t.Fatalf("event %d has change %q, want %q", i, got, want)
		}
	}
	if got := windowOfWidgets(t, s); got != 400 {
		t.Errorf("after %d changes, the window has room for %d changes, want 400", changes+1, got)
	}
}
