package watchdog

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// While the handler is busy with the first object, changes wait in the queue. The queue of the
// WatchDog groups them by object, that of client-go's informer does not. This explains the
// differences between their calls, here one of each kind. (The informer of 07-shared-informer/informer
// has the same queue. Its loop is seldom behind, because it waits for no handler.)
func TestWhatGroupingExplains(t *testing.T) {
	const resyncPeriod = time.Minute
	for _, test := range []struct {
		name         string
		change       func(*fakeapi.Server, *watch.FakeWatcher)
		ours, theirs []string // the calls after the one that is busy
	}{
		{
			name: "the order between objects",
			change: func(_ *fakeapi.Server, w *watch.FakeWatcher) {
				w.Modify(configMap("b", "2"))
				w.Modify(configMap("c", "3"))
				w.Modify(configMap("b", "4"))
			},
			ours: []string{"OnAdd b 1 first", "OnUpdate b 2, was 1", "OnUpdate b 4, was 2",
				"OnAdd c 1 first", "OnUpdate c 3, was 1"},
			theirs: []string{"OnAdd b 1 first", "OnAdd c 1 first",
				"OnUpdate b 2, was 1", "OnUpdate c 3, was 1", "OnUpdate b 4, was 2"},
		},
		{
			name: "an add in the middle of the initial list",
			change: func(_ *fakeapi.Server, w *watch.FakeWatcher) {
				w.Delete(configMap("b", "2"))
				w.Add(configMap("b", "3"))
			},
			ours:   []string{"OnAdd b 1 first", "OnDelete b 2", "OnAdd b 3", "OnAdd c 1 first"},
			theirs: []string{"OnAdd b 1 first", "OnAdd c 1 first", "OnDelete b 2", "OnAdd b 3"},
		},
		{
			name: "the tombstones of a list are not its first calls",
			change: func(server *fakeapi.Server, w *watch.FakeWatcher) {
				server.Set(configMap("busy", "1"), configMap("b", "2"))
				fakeapi.Expire(w)
				server.NextWatch()
			},
			ours: []string{"OnAdd b 1 first", "OnUpdate b 2, was 1", "OnAdd c 1 first", "OnDelete tombstone ns/c of 1",
				"OnUpdate busy 1, was 1"},
			theirs: []string{"OnAdd b 1 first", "OnAdd c 1 first", "OnDelete tombstone ns/c of 1",
				"OnUpdate busy 1, was 1", "OnUpdate b 2, was 1"},
		},
		{
			name: "two deletes in a row are one",
			change: func(_ *fakeapi.Server, w *watch.FakeWatcher) {
				w.Delete(configMap("c", "2"))
				w.Delete(configMap("c", "3"))
			},
			ours:   []string{"OnAdd b 1 first", "OnAdd c 1 first", "OnDelete c 2"},
			theirs: []string{"OnAdd b 1 first", "OnAdd c 1 first", "OnDelete c 2", "OnDelete c 3"},
		},
		{
			name: "a delete replaces a tombstone",
			change: func(server *fakeapi.Server, w *watch.FakeWatcher) {
				server.Set(configMap("busy", "1"), configMap("b", "2"))
				fakeapi.Expire(w)
				server.NextWatch().Delete(configMap("c", "3"))
			},
			ours: []string{"OnAdd b 1 first", "OnUpdate b 2, was 1", "OnAdd c 1 first", "OnDelete c 3",
				"OnUpdate busy 1, was 1"},
			theirs: []string{"OnAdd b 1 first", "OnAdd c 1 first", "OnDelete tombstone ns/c of 1",
				"OnUpdate busy 1, was 1", "OnUpdate b 2, was 1", "OnDelete c 3"},
		},
		{
			name: "a resync leaves out what waits",
			change: func(_ *fakeapi.Server, w *watch.FakeWatcher) {
				w.Delete(configMap("c", "2"))
				w.Delete(configMap("busy", "3"))
				time.Sleep(resyncPeriod + time.Second)
			},
			ours: []string{"OnAdd b 1 first", "OnAdd c 1 first", "OnDelete c 2", "OnDelete busy 3"},
			theirs: []string{"OnAdd b 1 first", "OnAdd c 1 first", "OnDelete c 2", "OnDelete busy 3",
				"OnUpdate b 1, was 1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, want := range map[string][]string{"client-go": test.theirs, "ours": test.ours} {
				synctest.Test(t, func(t *testing.T) {
					var calls record.Lines
					release := make(chan struct{})
					handler := record.Handler(&calls)
					add := handler.AddFunc
					handler.AddFunc = func(obj any, first bool) {
						add(obj, first)
						if obj.(*corev1.ConfigMap).Name == "busy" {
							<-release
						}
					}
					server := fakeapi.New(configMap("busy", "1"), configMap("b", "1"), configMap("c", "1"))
					if name == "ours" {
						run(t, server, func(_ *rig, o *Options) { o.Handler, o.ResyncPeriod = handler, resyncPeriod })
					} else {
						_, informer := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: server,
							ObjectType: &corev1.ConfigMap{}, Handler: handler, ResyncPeriod: resyncPeriod})
						must.Run(t, informer.RunWithContext)
					}
					w := server.NextWatch()
					calls.Want(t, "OnAdd busy 1 first")
					test.change(server, w)
					synctest.Wait()
					close(release)
					if got := calls.Take(); !slices.Equal(got, want) {
						t.Errorf("%s: got\n  %q\nwant\n  %q", name, got, want)
					}
				})
			}
		})
	}
}
