// Wrong options, objects that the WatchDog refuses, and handlers and servers that do not return.
// The WatchDog does not hang or panic, and its error names the object.

package watchdog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

func TestNewRefusesWhatCannotWork(t *testing.T) {
	listFunc := func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, nil }
	watchFunc := func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, nil }
	good := Options{
		ListerWatcher: &cache.ListWatch{ListWithContextFunc: listFunc, WatchFuncWithContext: watchFunc},
		ObjectType:    &corev1.ConfigMap{},
		Handler:       cache.ResourceEventHandlerFuncs{},
	}
	_, err := New(good)
	must.NoError(t, err)
	for _, test := range []struct {
		name    string
		want    string // in the error
		corrupt func(*Options)
	}{
		{"no ListerWatcher", "ListerWatcher is nil", func(o *Options) { o.ListerWatcher = nil }},
		{"a nil ListWatch", "ListerWatcher is nil", func(o *Options) { o.ListerWatcher = (*cache.ListWatch)(nil) }},
		{"no list function", "ListWithContextFunc", func(o *Options) {
			o.ListerWatcher = &cache.ListWatch{WatchFuncWithContext: watchFunc}
		}},
		{"no watch function", "WatchFuncWithContext", func(o *Options) {
			o.ListerWatcher = &cache.ListWatch{ListWithContextFunc: listFunc}
		}},
		{"no type", "ObjectType is nil", func(o *Options) { o.ObjectType = nil }},
		{"no handler", "Handler is nil", func(o *Options) { o.Handler = nil }},
		{"a negative period", "ResyncPeriod is -1ns: give zero for never", func(o *Options) { o.ResyncPeriod = -1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := good
			test.corrupt(&bad)
			dog, err := New(bad)
			if dog != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New() = %v, %v; want nil and an error that contains %q", dog, err, test.want)
			}
		})
	}
}

// The first list, and a later one.
func TestAListOfAnotherTypeIsRefusedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const refused = "listing and watching *v1.ConfigMap, to be tried again: unable to sync list result: " +
			"*v1.Pod ns/web is not a *v1.ConfigMap: ListerWatcher and ObjectType do not fit together"
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}}
		reported := make(chan error, 10)
		r := run(t, fakeapi.New(configMap("a", "1"), pod), func(_ *rig, o *Options) {
			o.OnError = func(err error) { reported <- err }
		})
		if err := <-reported; err.Error() != refused {
			t.Errorf("OnError was called with %q, want %q", err, refused)
		}
		r.calls.Want(t)
		if r.HasSynced() {
			t.Error("HasSynced() = true without a list, want false")
		}
		r.server.Set(configMap("a", "1"))
		w := r.server.NextWatch()
		r.calls.Want(t, "OnAdd a 1 first")
		r.server.Set(configMap("b", "2"), pod)
		fakeapi.Expire(w)
		if err := <-reported; err.Error() != refused {
			t.Errorf("OnError was called with %q, want %q", err, refused)
		}
		r.calls.Want(t)
	})
}

func TestAnEventOfAnotherTypeIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New())
		w := r.server.NextWatch()
		w.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}})
		w.Add(configMap("a", "2"))
		r.calls.Want(t, "OnAdd a 2")
		r.errors.Want(t, "an event is dropped: *v1.Pod ns/web is not a *v1.ConfigMap: ListerWatcher and ObjectType do "+
			"not fit together")
	})
}

// client-go's informer does the same: it reports the event to apimachinery's error handlers.
func TestAnEventWithoutAnObjectIsDropped(t *testing.T) {
	before := utilruntime.ErrorHandlers
	defer func() { utilruntime.ErrorHandlers = before }()
	synctest.Test(t, func(t *testing.T) {
		var reported record.Lines
		utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, _ error, text string, _ ...any) {
			reported.Add("%s", text)
		}}
		r := run(t, fakeapi.New())
		theirs, calls := fakeapi.New(), record.Lines{}
		_, informer := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: theirs,
			ObjectType: &corev1.ConfigMap{}, Handler: record.Handler(&calls)})
		must.Run(t, informer.RunWithContext)
		for _, w := range []*watch.FakeWatcher{r.server.NextWatch(), theirs.NextWatch()} {
			w.Add(nil)
			w.Delete(nil)
			w.Add(configMap("a", "2"))
		}
		r.calls.Want(t, "OnAdd a 2")
		calls.Want(t, "OnAdd a 2")
		reported.WantSorted(t, "Unable to understand watch event", "Unable to understand watch event",
			"Unexpected watch event object type", "Unexpected watch event object type")
		r.errors.Want(t)
	})
}

func TestAnObjectWithoutANameIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("", "1")))
		r.errors.Want(t, "listing and watching *v1.ConfigMap, to be tried again: unable to sync list result: "+
			`a *v1.ConfigMap in namespace "ns" has no name`)
		r.server.Set(configMap("a", "1"))
		w := r.server.NextWatch()
		w.Add(configMap("", "2"))
		w.Delete(configMap("", "3"))
		w.Add(configMap("b", "4"))
		r.calls.Want(t, "OnAdd a 1 first", "OnAdd b 4")
		dropped := `an event is dropped: a *v1.ConfigMap in namespace "ns" has no name`
		r.errors.Want(t, dropped, dropped)
	})
}

func TestAKeyFunctionThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("bad", "1")), func(_ *rig, o *Options) {
			o.KeyFunction = func(obj any) (string, error) {
				if obj.(*corev1.ConfigMap).Name == "bad" {
					return "", errors.New("I do not like it")
				}
				return cache.MetaNamespaceKeyFunc(obj)
			}
		})
		r.errors.Want(t, "listing and watching *v1.ConfigMap, to be tried again: unable to sync list result: "+
			"there is no key for *v1.ConfigMap ns/bad: I do not like it")
		if r.HasSynced() {
			t.Error("HasSynced() = true after a list that was refused, want false")
		}

		r.server.Set(configMap("a", "1"))
		w := r.server.NextWatch()
		w.Add(configMap("bad", "2"))
		w.Modify(configMap("bad", "3"))
		w.Delete(configMap("bad", "4"))
		w.Add(configMap("b", "5"))
		r.calls.Want(t, "OnAdd a 1 first", "OnAdd b 5")
		dropped := "an event is dropped: there is no key for *v1.ConfigMap ns/bad: I do not like it"
		r.errors.Want(t, dropped, dropped, dropped)
	})
}

// A list that was refused does not count as the first one, whether the inbox refused it or the
// queue.
func TestAnEmptyListAfterARefusedOneSyncs(t *testing.T) {
	for _, test := range []struct {
		name    string
		refused int // which call of the key function returns an error: the inbox is first, the queue second
	}{{"by the inbox", 1}, {"by the queue", 2}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				r := run(t, fakeapi.New(configMap("a", "1")), func(_ *rig, o *Options) {
					o.KeyFunction = func(obj any) (string, error) {
						asked++
						if asked == test.refused {
							return "", errors.New("I do not like it")
						}
						return cache.MetaNamespaceKeyFunc(obj)
					}
				})
				synctest.Wait()
				if asked != test.refused {
					t.Fatalf("the key function was called %d times, want %d", asked, test.refused)
				}
				if r.HasSynced() {
					t.Error("HasSynced() = true after a list that was refused, want false")
				}
				r.server.Set()
				r.server.NextWatch()
				synctest.Wait()
				if !r.HasSynced() {
					t.Error("HasSynced() = false after the first list that was taken, want true")
				}
				r.calls.Want(t)
			})
		})
	}
}

// The function has a key for the object when the event comes, and an error when it is stored.
func TestAKeyFunctionThatChangesItsMind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		r := run(t, fakeapi.New(), func(_ *rig, o *Options) {
			o.KeyFunction = func(obj any) (string, error) {
				asked++
				if asked > 2 { // the inbox and the queue have asked once each
					return "", errors.New("not any more")
				}
				return cache.MetaNamespaceKeyFunc(obj)
			}
		})
		r.server.NextWatch().Add(configMap("a", "2"))
		r.errors.Want(t, "there is no key for *v1.ConfigMap ns/a: not any more")
		r.calls.Want(t) // an object that is not stored is not delivered
	})
}

func TestAHandlerThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := run(t, fakeapi.New(configMap("a", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
				recorder.OnAdd(obj, false)
				<-release
			}}
		})
		w := r.server.NextWatch()
		synctest.Wait()
		w.Add(configMap("b", "2")) // the handler does not block the reflector
		start := time.Now()
		wantRunError(t, r.stop(), "the handler has not returned from OnAdd of ns/a after 5s")
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("Run() returned %v after the end of its context, want 5s", took)
		}
		if !w.IsStopped() {
			t.Error("IsStopped() = false for the watch when Run has returned, want true")
		}
		close(release)
		r.calls.Want(t, "OnAdd a 1") // and no call for b
	})
}

func TestAServerThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		server := fakeapi.New()
		server.WatchFuncWithContext = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			<-release // without a look at its context
			return nil, errors.New("too late")
		}
		r := run(t, server)
		synctest.Wait()
		wantRunError(t, r.stop(), "the ListerWatcher of *v1.ConfigMap has not returned after 5s")
	})
}
