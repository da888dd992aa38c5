// Steps with a fake client. Its watches send what a server seldom sends in the few seconds of a
// transcript.

package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// A fakeCluster is a client, and the requests that it has got.
type fakeCluster struct {
	client  *fake.Clientset
	lists   int
	options metav1.ListOptions // of the last watch
	watch   *watch.ProxyWatcher
}

// newFakeCluster returns a cluster whose lists have version 42 and one ConfigMap. Each watch sends
// the events, and ends.
func newFakeCluster(events ...watch.Event) *fakeCluster {
	c := &fakeCluster{client: fake.NewClientset()}
	c.client.PrependReactor("list", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		c.lists++
		list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "42"}}
		list.Items = []corev1.ConfigMap{*fakeapi.ConfigMap("before", "7")}
		return true, list, nil
	})
	c.client.PrependWatchReactor("configmaps", func(a clienttesting.Action) (bool, watch.Interface, error) {
		c.options = a.(clienttesting.WatchActionImpl).ListOptions
		sent := make(chan watch.Event, len(events))
		for _, event := range events {
			sent <- event
		}
		close(sent)
		c.watch = watch.NewProxyWatcher(sent)
		return true, c.watch, nil
	})
	return c
}

// run runs a step, and returns what it has printed. It checks that the step has stopped its watch.
func (c *fakeCluster) run(ctx context.Context, t *testing.T, run func(context.Context, *step.Lesson) error) (
	out string, err error,
) {
	t.Helper()
	var printed strings.Builder
	err = run(ctx, &step.Lesson{Lesson: &play.Lesson{Out: &printed}, Client: c.client, Namespace: "ns"})
	if c.watch == nil {
		t.Fatalf("the step has returned %v, and has opened no watch", err)
	}
	if !c.watch.Stopping() {
		t.Error("the watch is open when the step has returned, want it to be stopped")
	}
	return printed.String(), err
}

// bookmark returns the event of a bookmark, with or without the mark at the end of a list.
func bookmark(isEndOfList bool) watch.Event {
	obj := fakeapi.ConfigMap("", "42")
	if isEndOfList {
		obj.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return watch.Event{Type: watch.Bookmark, Object: obj}
}

// Bookmarks without the mark may come at any time. Objects come in any order.
func TestAStreamedListEndsWithTheMark(t *testing.T) {
	cluster := newFakeCluster(
		watch.Event{Type: watch.Added, Object: fakeapi.ConfigMap("two", "2")},
		bookmark(false),
		watch.Event{Type: watch.Added, Object: fakeapi.ConfigMap("one", "1")},
		bookmark(true),
		watch.Event{Type: watch.Added, Object: fakeapi.ConfigMap("three", "43")},
		bookmark(false),
		watch.Event{Type: watch.Modified, Object: fakeapi.ConfigMap("one", "44")},
	)
	out, err := cluster.run(t.Context(), t, stepStream)
	if err != nil {
		t.Errorf("the step returns %v, want nil", err)
	}
	const want = `ADDED : one
ADDED : two
BOOKMARK : map[k8s.io/initial-events-end:true]
ADDED : three
MODIFIED : one
`
	if out != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
	if cluster.lists != 0 {
		t.Errorf("%d LISTs, want 0", cluster.lists)
	}
	wantOptions := metav1.ListOptions{Watch: true, SendInitialEvents: new(true), AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	if diff := cmp.Diff(wantOptions, cluster.options); diff != "" {
		t.Errorf("options of the watch (-want +got):\n%s", diff)
	}
}

func TestTheErrorOfAStreamedListIsReturned(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old").Status()
	cluster := newFakeCluster(
		watch.Event{Type: watch.Added, Object: fakeapi.ConfigMap("one", "1")},
		watch.Event{Type: watch.Error, Object: &expired},
	)
	out, err := cluster.run(t.Context(), t, stepStream)
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("the step returns %v, want the error of the watch", err)
	}
	if out != "" {
		t.Errorf("printed %q of a list that is not complete, want nothing", out)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = cluster.run(ended, t, stepStream)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the step returns %v when its context has ended, want %v", err, context.Canceled)
	}
}

// A watch from any other version sends too much, or leaves something out.
func TestTheStepVersionWatchesFromTheVersionOfItsList(t *testing.T) {
	cluster := newFakeCluster()
	if _, err := cluster.run(t.Context(), t, stepVersion); err != nil {
		t.Errorf("the step returns %v, want nil", err)
	}
	if got := cluster.options.ResourceVersion; got != "42" {
		t.Errorf("the watch is from version %q, want %q, the version of the list", got, "42")
	}
}
