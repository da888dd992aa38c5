// Claims of the book about client-go's reflector, tested on the pinned version, without a cluster.

package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

func TestABareReflectorTakesNoErrorHandler(t *testing.T) {
	reflector := reflect.TypeFor[*cache.Reflector]()
	for method := range reflector.Methods() {
		if strings.Contains(method.Name, "ErrorHandler") {
			t.Errorf("a Reflector has %s now", method.Name)
		}
	}
	fields := append(reflect.VisibleFields(reflector.Elem()),
		reflect.VisibleFields(reflect.TypeFor[cache.ReflectorOptions]())...)
	for _, field := range fields {
		if field.IsExported() && strings.Contains(field.Name, "ErrorHandler") {
			t.Errorf("a Reflector has %s now", field.Name)
		}
	}
}

func TestAReflectorPassesOnOnlyTheTypeItWasMadeFor(t *testing.T) {
	server, store := fakeapi.New(), cache.NewStore(cache.MetaNamespaceKeyFunc)
	must.Run(t, cache.NewReflector(server, &corev1.Pod{}, store, 0).RunWithContext)
	watcher := server.NextWatch()
	watcher.Add(fakeapi.ConfigMap("stranger", "2"))
	watcher.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod1", ResourceVersion: "3"}})
	must.Until(t, "a pod in the store", func() bool { return len(store.ListKeys()) > 0 })
	keys := store.ListKeys()
	if want := []string{"pod1"}; !slices.Equal(keys, want) {
		t.Errorf("keys in the store: %q, want %q", keys, want)
	}
}

// After a list or an event without a version, the next watch begins without a version. And the
// store gets the object itself, not a copy.
func TestWhatASourceMustDeliver(t *testing.T) {
	for _, version := range []struct {
		list, event string
		next        string // the version from which the second watch begins
	}{
		{list: "1", event: "2", next: "2"},
		{list: "", event: "2", next: ""},
		{list: "1", event: "", next: ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, store := fakeapi.New(), cache.NewStore(cache.MetaNamespaceKeyFunc)
			server.SetVersion(version.list)
			var asked []string // the versions from which the watches begin
			watches := server.WatchFuncWithContext
			server.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				asked = append(asked, o.ResourceVersion)
				return watches(ctx, o)
			}
			must.Run(t, cache.NewReflector(server, &corev1.ConfigMap{}, store, 0).RunWithContext)
			w := server.NextWatch()
			sent := fakeapi.ConfigMap("a", version.event)
			w.Add(sent)
			w.Stop()
			server.NextWatch()
			if want := []string{version.list, version.next}; !slices.Equal(asked, want) {
				t.Errorf("%+v: watches from %q, want %q", version, asked, want)
			}
			stored := store.List()
			if len(stored) != 1 {
				t.Fatalf("%+v: %d objects in the store, want 1", version, len(stored))
			}
			if stored[0] != any(sent) {
				t.Errorf("%+v: stored %p %v, want the same object as sent: %p %v",
					version, stored[0], stored[0], sent, sent)
			}
		})
	}
}

// Events and bookmarks move the version of a reflector forward. When the watch ends, the next watch
// begins there, and there is no list.
func TestAReflectorResumesFromTheVersionOfABookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		asked := make(chan string, 10) // the versions from which the watches begin
		watches := server.WatchFuncWithContext
		server.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			asked <- o.ResourceVersion
			return watches(ctx, o)
		}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		reflector := cache.NewReflector(server, &corev1.ConfigMap{}, store, 0)
		must.Run(t, reflector.RunWithContext)
		w := server.NextWatch()
		w.Add(fakeapi.ConfigMap("two", "2"))
		synctest.Wait()
		if got := reflector.LastSyncResourceVersion(); got != "2" {
			t.Errorf("the version after an event is %q, want %q", got, "2")
		}
		w.Action(watch.Bookmark, fakeapi.ConfigMap("", "7"))
		w.Stop()
		server.NextWatch()
		if got, want := []string{<-asked, <-asked}, []string{"1", "7"}; !slices.Equal(got, want) {
			t.Errorf("watches from %q, want %q", got, want)
		}
		if lists := server.Lists(); lists != 1 {
			t.Errorf("%d lists, want 1", lists)
		}
	})
}

// A reflector stores all pages of a list together.
func TestAReflectorCollectsAllPagesOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, store := fakeapi.New(), cache.NewStore(cache.MetaNamespaceKeyFunc)
		server.ListWithContextFunc = func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if keys := store.ListKeys(); len(keys) != 0 {
				t.Errorf("stored before page %q: %q, want nothing", o.Continue, keys)
			}
			page := &corev1.ConfigMapList{Items: []corev1.ConfigMap{*fakeapi.ConfigMap("page"+o.Continue, "1")}}
			if o.Continue == "" {
				page.Continue = "2"
			}
			return page, nil
		}
		must.Run(t, cache.NewReflector(server, &corev1.ConfigMap{}, store, 0).RunWithContext)
		server.NextWatch()
		keys := slices.Sorted(slices.Values(store.ListKeys()))
		if want := []string{"ns/page", "ns/page2"}; !slices.Equal(keys, want) {
			t.Errorf("stored %q, want %q", keys, want)
		}
	})
}

// The step lost has ConfigMaps. It is the same with pods: the delete of a pod that was popped is
// lost. If an update of the pod waits in the queue, the delete is kept.
func TestADeltaFIFOLosesTheDeleteOfAPodThatWasPopped(t *testing.T) {
	pod := func(name, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
	}
	for _, test := range []struct {
		updateIsPopped bool // before the delete
		want           []string
	}{
		{true, []string{"Added doomed", "Updated doomed", "Added after"}},
		{false, []string{"Added doomed", "Updated doomed", "Deleted doomed", "Added after"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := fakeapi.New()
			queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}) // no KnownObjects
			must.Run(t, cache.NewReflector(server, &corev1.Pod{}, queue, 0).RunWithContext)
			var got []string
			pop := func() {
				_, err := queue.Pop(func(obj any, _ bool) error {
					for _, delta := range obj.(cache.Deltas) {
						got = append(got, fmt.Sprintf("%s %s", delta.Type, delta.Object.(*corev1.Pod).Name))
					}
					return nil
				})
				must.NoError(t, err)
			}
			watcher := server.NextWatch()
			watcher.Add(pod("doomed", "2"))
			pop()
			watcher.Modify(pod("doomed", "3"))
			if test.updateIsPopped {
				pop()
			}
			watcher.Delete(pod("doomed", "4"))
			watcher.Add(pod("after", "5"))
			for !slices.Contains(got, "Added after") {
				pop()
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the update is popped: %t: popped %q, want %q", test.updateIsPopped, got, test.want)
			}
		})
	}
}

// A reflector first lists from "0", and then from the version that it has reached. If the server no
// longer has this version, the reflector lists from "".
func TestWhichVersionAReflectorListsFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan string, 10)
		expired := apierrors.NewResourceExpired("too old")
		server := fakeapi.New()
		server.ListWithContextFunc = func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
			asked <- options.ResourceVersion
			switch options.ResourceVersion {
			case "0":
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5"}}, nil
			case "5":
				return nil, expired
			default:
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}, nil
			}
		}
		server.WatchFuncWithContext = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return nil, expired
		}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		stop := must.Run(t, cache.NewReflector(server, &corev1.Pod{}, store, 0).RunWithContext)
		got := []string{<-asked, <-asked, <-asked, <-asked}
		stop()
		want := []string{"0", "5", "", "9"}
		if !slices.Equal(got, want) {
			t.Errorf("listed from %q, want %q", got, want)
		}
	})
}

// Only the first list has a limit. Each watch asks for bookmarks.
func TestWhatAReflectorSetsInItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		var asked []string
		lists, watches := server.ListWithContextFunc, server.WatchFuncWithContext
		server.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			asked = append(asked, fmt.Sprintf("LIST from %s, limit %d", o.ResourceVersion, o.Limit))
			return lists(ctx, o)
		}
		server.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			asked = append(asked, fmt.Sprintf("WATCH, bookmarks %t", o.AllowWatchBookmarks))
			return watches(ctx, o)
		}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		stop := must.Run(t, cache.NewReflector(server, &corev1.ConfigMap{}, store, 0).RunWithContext)
		fakeapi.Expire(server.NextWatch())
		server.NextWatch()
		stop()
		want := []string{"LIST from 0, limit 500", "WATCH, bookmarks true",
			"LIST from 1, limit 0", "WATCH, bookmarks true"}
		if !slices.Equal(asked, want) {
			t.Errorf("requests %q, want %q", asked, want)
		}
	})
}

func TestClientGosReflectorSays(t *testing.T) {
	must.FindInClientGo(t, "reflector.go",
		`initial list performed by reflector uses "0" as resource version`,
		"to allow it to be served from the watch cache",
		"Streaming has the primary advantage of using fewer server's resources to fetch data",
		"might result in an increased memory consumption of the APIServer",
		"defaultBackoffInit = 800 * time.Millisecond",
		"defaultBackoffMax = 30 * time.Second",
		"defaultBackoffReset = 2 * time.Minute")
	must.FindInClientGo(t, "listwatch.go",
		"func ToListerWatcherWithContext(lw ListerWatcher) ListerWatcherWithContext "+
			"{ if lw, ok := lw.(ListerWatcherWithContext); ok { return lw }")
}
