// What an observer is told of lists and events that nobody stored.

package reflector

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

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

// observing adds a line for each event. Events that are no failures have their version.
func observing(seen *record.Lines) observer.Observer {
	return observer.Func(func(e observer.Event) {
		switch {
		case e.Kind == observer.BackingOff: // its time is random
			seen.Add("%s", e.Kind)
		case e.Err != nil:
			seen.Add("%s: %v", e.Kind, e.Err)
		default:
			seen.Add("%s %s", e.Kind, e.Version)
		}
	})
}

// streamed is a watch with a list in it.
func streamed(version string, objs ...runtime.Object) *watch.FakeWatcher {
	w := watch.NewFakeWithChanSize(10, false)
	for _, obj := range objs {
		w.Add(obj)
	}
	w.Action(watch.Bookmark, endOfList(version))
	return w
}

func tooLarge() error {
	err := apierrors.NewTimeoutError("Too large resource version", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	return err
}

func TestListsThatNobodyStored(t *testing.T) {
	list := func(err error) listFunc {
		return func(o metav1.ListOptions) (runtime.Object, error) {
			if o.ResourceVersion == "" {
				return empty(o)
			}
			return nil, err
		}
	}
	for name, test := range map[string]struct {
		lw    cache.ListerWatcher
		store cache.ReflectorStore
		want  []string
	}{
		"a list that the store refuses": {plain(empty, nil), refusing{newStore()},
			[]string{"listing 0", "ended: unable to sync list result: not this list", "backing off"}},
		"a streamed list that the store refuses": {
			streaming(func() watch.Interface { return streamed("1", named("a")) }), refusing{newStore()},
			[]string{"listing ", "ended: unable to sync list result: not this list",
				"listing 0", "ended: unable to sync list result: not this list", "backing off"}},
		"a streamed list that breaks off": {streaming(func() watch.Interface {
			w := watch.NewFakeWithChanSize(2, false)
			w.Add(named("a"))
			w.Action(watch.Bookmark, fakeapi.ConfigMap("", "1")) // one that is not the end of the list
			w.Stop()
			return w
		}), newStore(), []string{"listing ", "ended: the watch has ended in the middle of its list", "backing off"}},
		"a version that the server no longer has": {
			plain(list(apierrors.NewResourceExpired("too old")), refuse(errors.New("no"))), newStore(),
			[]string{"listing 0", "expired: too old", "listing ", "listed 1", "watching 1", "ended: no",
				"backing off"}},
		"a version that the server does not have yet": {
			plain(list(tooLarge()), refuse(errors.New("no"))), newStore(),
			[]string{"listing 0", "ended: Timeout: Too large resource version", "listing ", "listed 1", "watching 1",
				"ended: no", "backing off"}},
		"a stream from a version that the server does not have yet": {
			source(empty, refuse(tooLarge())), newStore(),
			[]string{"listing ", "ended: Timeout: Too large resource version", "backing off"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen record.Lines
				ctx, cancel := context.WithCancel(t.Context())
				observe := observer.Func(func(e observer.Event) {
					observing(&seen).Observe(e)
					if e.Kind == observer.BackingOff { // the first round is over
						cancel()
					}
				})
				New(Options{ListerWatcher: test.lw, Store: test.store, Observer: observe,
					WatchErrorHandler: func(context.Context, error) {}}).Run(ctx)
				if got := seen.Take(); !slices.Equal(got, test.want) {
					t.Errorf("observed\n%q, want\n%q", got, test.want)
				}
			})
		})
	}
}

// A source that does not notice the end of the context is left behind in its LIST. What
// it says later is no event any more.
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
				list := func(metav1.ListOptions) (runtime.Object, error) { <-release; return answer() }
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				New(Options{ListerWatcher: plain(list, nil), Store: newStore(), Observer: observing(&seen)}).Run(ctx)
				before := seen.Take()
				close(release)
				synctest.Wait()
				if after := seen.Take(); len(before) != 1 || len(after) != 0 {
					t.Errorf("%q while it ran, and %q afterwards; want one event, and none", before, after)
				}
			})
		})
	}
}

// What the log has, the observer has.
func TestEventsThatAreLeftOutAreObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := streamed("1", named("a"), &corev1.Pod{})
		w.Add(&corev1.Secret{})
		w.Modify(nil)
		w.Delete(named("a"))
		w.Action("STRANGE", named("a"))
		var seen record.Lines
		var types []string
		ctx, cancel := context.WithCancel(t.Context())
		observe := observer.Func(func(e observer.Event) {
			if e.Kind == observer.LeftOut {
				observing(&seen).Observe(e)
				types = append(types, e.Type)
			}
		})
		time.AfterFunc(time.Second, cancel)
		New(Options{ListerWatcher: streaming(func() watch.Interface { return w }), Store: refusesDelete{newStore()},
			ExpectedType: &corev1.ConfigMap{}, Observer: observe}).Run(ctx)
		const wrongType = "left out: Unexpected watch event object type"
		want := []string{wrongType, wrongType, wrongType, // the third has no object, and so no type
			"left out: Unable to delete watch event object from store: it stays",
			"left out: Unknown watch event: it is neither an event of the store nor a bookmark: STRANGE"}
		if got := seen.Take(); !slices.Equal(got, want) {
			t.Errorf("observed\n%q, want\n%q", got, want)
		}
		if want := []string{"ADDED", "ADDED", "MODIFIED", "DELETED", "STRANGE"}; !slices.Equal(types, want) {
			t.Errorf("types %q, want %q", types, want)
		}
	})
}

type refusesDelete struct{ cache.Store }

func (refusesDelete) Delete(any) error { return errors.New("it stays") }
