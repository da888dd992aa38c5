// Which events an observer gets for lists and events that the store did not store.

package reflector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/record"
)

// describe returns a line for an event: what happened, and its error or its version.
func describe(event any) string {
	switch e := event.(type) {
	case observer.Listing:
		return "listing " + e.Version
	case observer.Listed:
		return "listed " + e.Version
	case observer.Watching:
		return "watching " + e.Version
	case observer.Received:
		return "event " + e.Version
	case observer.Bookmark:
		return "bookmark " + e.Version
	case observer.LeftOut:
		return "left out: " + e.Err.Error()
	case observer.Ended:
		if e.Err == nil {
			return "ended "
		}
		return "ended: " + e.Err.Error()
	case observer.Expired:
		return "expired: " + e.Err.Error()
	case observer.BackingOff:
		return "backing off" // its time is random
	default:
		return fmt.Sprintf("%#v", event)
	}
}

// recordTo returns an observer that adds a line for each event.
func recordTo(seen *record.Lines) observer.Observer {
	return observer.Func(func(event any) { seen.Add("%s", describe(event)) })
}

// streamedList returns a watch that begins with a list.
func streamedList(version string, objs ...runtime.Object) *watch.FakeWatcher {
	w := watch.NewFakeWithChanSize(10, false)
	for _, obj := range objs {
		w.Add(obj)
	}
	w.Action(watch.Bookmark, endOfList(version))
	return w
}

// tooLarge returns the error of a server that does not have the version yet.
func tooLarge() error {
	err := apierrors.NewTimeoutError("Too large resource version", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	return err
}

func TestListsThatNobodyStored(t *testing.T) {
	failUnlessNewest := func(err error) listFunc {
		return func(o metav1.ListOptions) (runtime.Object, error) {
			if o.ResourceVersion == "" {
				return emptyList(o)
			}
			return nil, err
		}
	}
	for name, test := range map[string]struct {
		lw    cache.ListerWatcher
		store cache.ReflectorStore
		want  []string
	}{
		"a list that the store refuses": {
			lw:    plainListWatch(emptyList, nil),
			store: refusingStore{newStore()},
			want:  []string{"listing 0", "ended: unable to sync list result: not this list", "backing off"},
		},
		"a streamed list that the store refuses": {
			lw:    streamingListWatch(func() watch.Interface { return streamedList("1", configMap("a")) }),
			store: refusingStore{newStore()},
			want: []string{
				"listing ", "ended: unable to sync list result: not this list", // the stream
				"listing 0", "ended: unable to sync list result: not this list", // the LIST after it
				"backing off",
			},
		},
		"a streamed list that breaks off": {
			lw: streamingListWatch(func() watch.Interface {
				w := watch.NewFakeWithChanSize(2, false)
				w.Add(configMap("a"))
				w.Action(watch.Bookmark, fakeapi.ConfigMap("", "1")) // a bookmark that is not the end of the list
				w.Stop()
				return w
			}),
			store: newStore(),
			want:  []string{"listing ", "ended: the watch has ended in the middle of its list", "backing off"},
		},
		"a version that the server no longer has": {
			lw: plainListWatch(failUnlessNewest(apierrors.NewResourceExpired("too old")),
				refuseWatch(errors.New("no"))),
			store: newStore(),
			want: []string{
				"listing 0", "expired: too old",
				"listing ", "listed 1",
				"watching 1", "ended: no", "backing off",
			},
		},
		"a version that the server does not have yet": {
			lw:    plainListWatch(failUnlessNewest(tooLarge()), refuseWatch(errors.New("no"))),
			store: newStore(),
			want: []string{
				"listing 0", "ended: Timeout: Too large resource version",
				"listing ", "listed 1",
				"watching 1", "ended: no", "backing off",
			},
		},
		"a stream from a version that the server does not have yet": {
			lw:    listWatch(emptyList, refuseWatch(tooLarge())),
			store: newStore(),
			want:  []string{"listing ", "ended: Timeout: Too large resource version", "backing off"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen record.Lines
				ctx, cancel := context.WithCancel(t.Context())
				observe := observer.Func(func(event any) {
					recordTo(&seen).Observe(event)
					if _, ok := event.(observer.BackingOff); ok { // the first round is over
						cancel()
					}
				})
				New(Options{
					ListerWatcher:     test.lw,
					Store:             test.store,
					Observer:          observe,
					WatchErrorHandler: func(context.Context, error) {},
				}).Run(ctx)
				if diff := cmp.Diff(test.want, seen.Take()); diff != "" {
					t.Errorf("observed events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The reflector does not wait for a LIST of a ListerWatcher that ignores the context. The answer
// that comes later causes no event.
func TestNoEventAfterRunHasReturned(t *testing.T) {
	page := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1", Continue: "more"}}
	for name, answer := range map[string]func() (runtime.Object, error){
		"another page": func() (runtime.Object, error) { return page, nil },
		"too old":      func() (runtime.Object, error) { return nil, apierrors.NewResourceExpired("too old") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen record.Lines
				release := make(chan struct{})
				list := func(metav1.ListOptions) (runtime.Object, error) {
					<-release
					return answer()
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				New(Options{
					ListerWatcher: plainListWatch(list, nil),
					Store:         newStore(),
					Observer:      recordTo(&seen),
				}).Run(ctx)
				before := seen.Take()
				close(release)
				synctest.Wait()
				if len(before) != 1 {
					t.Errorf("observed %q while the reflector ran, want one event", before)
				}
				if after := seen.Take(); len(after) != 0 {
					t.Errorf("observed %q after Run has returned, want nothing", after)
				}
			})
		})
	}
}

// The observer gets the same errors as the log. It also gets a bookmark that the store refuses.
func TestEventsThatAreLeftOutAreObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := streamedList("1", configMap("a"), &corev1.Pod{})
		w.Add(&corev1.Secret{})
		w.Modify(nil)
		w.Delete(configMap("a"))
		w.Action(watch.Bookmark, fakeapi.ConfigMap("", "2"))
		w.Action("STRANGE", configMap("a"))
		var seen record.Lines
		var types []watch.EventType
		ctx, cancel := context.WithCancel(t.Context())
		observe := observer.Func(func(event any) {
			switch e := event.(type) {
			case observer.LeftOut:
				recordTo(&seen).Observe(e)
				types = append(types, e.Type)
			case observer.Bookmark:
				recordTo(&seen).Observe(e)
			}
		})
		time.AfterFunc(time.Second, cancel)
		New(Options{
			ListerWatcher: streamingListWatch(func() watch.Interface { return w }),
			Store:         pickyStore{newStore()},
			ExpectedType:  &corev1.ConfigMap{},
			Observer:      observe,
		}).Run(ctx)
		const wrongType = "left out: Unexpected watch event object type"
		want := []string{
			wrongType,
			wrongType,
			wrongType, // it has no object, and so no type
			"left out: Unable to delete watch event object from store: it stays",
			"bookmark 2",
			"left out: Unable to send bookmark event to store: not this version",
			"left out: Unknown watch event: it is neither an event of the store nor a bookmark: STRANGE",
		}
		if diff := cmp.Diff(want, seen.Take()); diff != "" {
			t.Errorf("observed events (-want +got):\n%s", diff)
		}
		wantTypes := []watch.EventType{"ADDED", "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "STRANGE"}
		if !slices.Equal(types, wantTypes) {
			t.Errorf("types of the events that are left out: %q, want %q", types, wantTypes)
		}
	})
}

// A pickyStore refuses every delete, and every bookmark.
type pickyStore struct{ cache.Store }

func (pickyStore) Delete(any) error      { return errors.New("it stays") }
func (pickyStore) Bookmark(string) error { return errors.New("not this version") }
