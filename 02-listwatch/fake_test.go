// Steps with a fake client. Its watches send what a server seldom sends in the few seconds of a
// transcript.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// A fakeCluster is a client, and the requests that it has received.
type fakeCluster struct {
	client  *fake.Clientset
	lists   int
	options metav1.ListOptions // of the last watch
	watch   *watch.ProxyWatcher
}

// newFakeCluster returns a cluster whose lists have version 42 and one ConfigMap. Each watch sends
// the events, and ends. As on a server, a watch gets bookmarks only if it asks for them.
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
			if event.Type != watch.Bookmark || c.options.AllowWatchBookmarks {
				sent <- event
			}
		}
		close(sent)
		c.watch = watch.NewProxyWatcher(sent)
		return true, c.watch, nil
	})
	return c
}

// run runs a step, and returns what it has printed. It checks that the step has stopped its watch.
func (c *fakeCluster) run(ctx context.Context, t *testing.T, run func(context.Context, *step.Env) error) (
	out string, err error,
) {
	t.Helper()
	var printed strings.Builder
	err = run(ctx, &step.Env{Env: &play.Env{Out: &printed}, Client: c.client, Namespace: "ns"})
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

// The error may come before the end of the list, or long after it.
func TestTheErrorOfAStreamedListIsReturned(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old").Status()
	fails := watch.Event{Type: watch.Error, Object: &expired}
	one := watch.Event{Type: watch.Added, Object: fakeapi.ConfigMap("one", "1")}
	for _, test := range []struct {
		name   string
		events []watch.Event
		want   string
	}{
		{"before the mark", []watch.Event{one, fails}, ""},
		{"after the mark", []watch.Event{one, bookmark(true), fails},
			"ADDED : one\nBOOKMARK : map[k8s.io/initial-events-end:true]\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cluster := newFakeCluster(test.events...)
			out, err := cluster.run(t.Context(), t, stepStream)
			if !apierrors.IsResourceExpired(err) {
				t.Errorf("the step returns %v, want the error of the watch", err)
			}
			if out != test.want {
				t.Errorf("printed %q before the error, want %q", out, test.want)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = cluster.run(ended, t, stepStream)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the step returns %v when its context has ended, want %v", err, context.Canceled)
			}
		})
	}
}

// A watch from any other version sends too much, or leaves something out. All that comes is a
// change, also of what was listed. A bookmark is not a change.
func TestTheStepVersionWatchesFromTheVersionOfItsList(t *testing.T) {
	cluster := newFakeCluster(
		watch.Event{Type: watch.Added, Object: fakeapi.ConfigMap("between", "43")},
		bookmark(false),
		watch.Event{Type: watch.Modified, Object: fakeapi.ConfigMap("before", "44")},
		watch.Event{Type: watch.Deleted, Object: fakeapi.ConfigMap("before", "45")},
	)
	out, err := cluster.run(t.Context(), t, stepVersion)
	if err != nil {
		t.Errorf("the step returns %v, want nil", err)
	}
	const want = `LIST : before
created : between
WATCH : ADDED : between
WATCH : MODIFIED : before
WATCH : DELETED : before
`
	if out != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
	if got := cluster.options.ResourceVersion; got != "42" {
		t.Errorf("the watch is from version %q, want %q, the version of the list", got, "42")
	}
}

// A page may be shorter than the limit, and need not say how many objects remain. Only continue
// reports whether there is another page.
func TestTheStepPagesReadsUntilContinueIsEmpty(t *testing.T) {
	pages := map[string]*corev1.ConfigMapList{ // by the token that asks for the page
		"":      {ListMeta: metav1.ListMeta{Continue: "two"}},
		"two":   {ListMeta: metav1.ListMeta{Continue: "three", RemainingItemCount: new(int64(2))}},
		"three": {},
	}
	names := map[string][]string{"": {"a"}, "two": {"b", "c"}, "three": {"d", "e"}}
	client := fake.NewClientset()
	var asked []string
	client.PrependReactor("list", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		token := a.(clienttesting.ListActionImpl).ListOptions.Continue
		asked = append(asked, token)
		if len(asked) > len(pages) {
			return true, nil, errors.New("there are no more pages")
		}
		page := pages[token].DeepCopy()
		for _, name := range names[token] {
			page.Items = append(page.Items, *fakeapi.ConfigMap(name, "7"))
		}
		return true, page, nil
	})
	var out strings.Builder
	env := &step.Env{Env: &play.Env{Out: &out}, Client: client, Namespace: "ns"}
	if err := stepPages(t.Context(), env); err != nil {
		t.Errorf("the step returns %v, want nil", err)
	}
	if want := []string{"", "two", "three"}; !slices.Equal(asked, want) {
		t.Errorf("asked for the pages %q, want %q; printed\n%s", asked, want, &out)
	}
	for _, want := range []string{"page 1 : a ", "page 2 : b c ", "page 3 : d e "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed\n%swant %q in it", &out, want)
		}
	}
}

// The server offers a token for the rest of the list in its newest version. Whoever takes it has a
// list that never existed.
func TestTheStepPagesEndsWithTheErrorOfAnExpiredToken(t *testing.T) {
	expired := apierrors.NewResourceExpired("the continue token has expired")
	expired.ErrStatus.Continue = "the rest, as it is now"
	client := fake.NewClientset()
	var asked []string
	client.PrependReactor("list", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		asked = append(asked, a.(clienttesting.ListActionImpl).ListOptions.Continue)
		if len(asked) == 2 {
			return true, nil, expired
		}
		list := &corev1.ConfigMapList{Items: []corev1.ConfigMap{*fakeapi.ConfigMap("a", "7")}}
		if len(asked) == 1 {
			list.Continue = "two"
		}
		return true, list, nil
	})
	env := &step.Env{Env: &play.Env{Out: io.Discard}, Client: client, Namespace: "ns"}
	if err := stepPages(t.Context(), env); !apierrors.IsResourceExpired(err) {
		t.Errorf("the step returns %v, want the server's error", err)
	}
	if want := []string{"", "two"}; !slices.Equal(asked, want) {
		t.Errorf("asked for the pages %q, want %q", asked, want)
	}
}

// answers is a server without a network. It answers each watch with the next of these texts, and
// each list with no widgets.
type answers []string

func (a *answers) RoundTrip(request *http.Request) (*http.Response, error) {
	body := `{"kind":"WidgetList","apiVersion":"ns.example.com/v1","metadata":{"resourceVersion":"42"},"items":[]}`
	if request.URL.Query().Get("watch") != "" {
		if len(*a) == 0 {
			return nil, errors.New("too many watches")
		}
		body, *a = (*a)[0], (*a)[1:]
	}
	return fault.Respond(request, http.StatusOK, strings.NewReader(body)), nil
}

// runGone runs the step gone on a server whose first watch sends this. It reports a panic.
func runGone(t *testing.T, first string) (out string, err error) {
	t.Helper()
	var printed strings.Builder
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("the step panics: %v", p)
		}
	}()
	err = stepGone(t.Context(), &step.Env{Env: &play.Env{Out: &printed}, Namespace: "ns",
		Config: &rest.Config{Host: "http://nowhere", Transport: &answers{first, ""}}})
	return printed.String(), err
}

// There are servers that say Gone, and not Expired.
func TestTheStepGoneListsAfterTheStatus410(t *testing.T) {
	got, err := runGone(t, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","reason":"Gone","code":410}}`)
	must.NoError(t, err)
	const want = "WATCH from a version that is too old : ERROR : 410 Gone\nLIST : widgets : 0\n"
	if got != want {
		t.Errorf("printed\n%swant\n%s", got, want)
	}
}

// The channel of a watch that has ended gives an event without an object. A watch from a version
// that the server still has begins with an object.
func TestTheStepGoneNeedsAnError(t *testing.T) {
	const widget = `{"type":"%s","object":{"kind":"Widget","apiVersion":"ns.example.com/v1","metadata":{"name":"w"}}}`
	for name, first := range map[string]string{
		"no event":   "",
		"ADDED":      fmt.Sprintf(widget, watch.Added),
		"MODIFIED":   fmt.Sprintf(widget, watch.Modified),
		"DELETED":    fmt.Sprintf(widget, watch.Deleted),
		"a bookmark": fmt.Sprintf(widget, watch.Bookmark),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := runGone(t, first)
			if err == nil && !t.Failed() {
				t.Error("the step returns nil, want an error")
			}
			if got != "" {
				t.Errorf("printed %q, want nothing", got)
			}
		})
	}
}
