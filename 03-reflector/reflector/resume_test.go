// When a reflector resumes with a watch, when it lists, and from which version.

package reflector

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/scripts/harness/fakeapi"
)

// Some proxies do not answer a WATCH before its first event. A watch that ends without an event is
// too short if it ends within a second after its request, not after the answer.
func TestAWatchThatIsSlowToOpenIsNotTooShort(t *testing.T) {
	for _, test := range []struct {
		streamed  bool
		wantLists int
	}{{streamed: false, wantLists: 1}, {streamed: true, wantLists: 0}} {
		testBoth(t, func(t *testing.T, _ string, run runFunc) {
			lists := 0
			list := func(o metav1.ListOptions) (runtime.Object, error) {
				lists++
				return emptyList(o)
			}
			watches := func(metav1.ListOptions) (watch.Interface, error) {
				time.Sleep(2 * time.Second)
				w := watch.NewFake()
				w.Stop()
				return w, nil
			}
			lw := plainListWatch(list, watches)
			if test.streamed {
				lw = listWatch(list, watches)
			}
			runFor(t, time.Minute, run, lw, newStore())
			if lists != test.wantLists {
				t.Errorf("streamed %t: %d LISTs in a minute, want %d, and a watch after each watch",
					test.streamed, lists, test.wantLists)
			}
		})
	}
}

// A watch without a version, or from "0", begins with all objects, in no order. Their versions do
// not say from which version the next watch can begin. The first event of another type comes after
// them. From then on, all versions count.
func TestAWatchFromNoVersionIsResumed(t *testing.T) {
	testBoth(t, func(t *testing.T, _ string, run runFunc) {
		for _, next := range []watch.EventType{"", watch.Bookmark, watch.Modified, watch.Deleted} {
			for _, version := range []string{"", "0"} {
				var asked []string
				list := func(metav1.ListOptions) (runtime.Object, error) {
					return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: version}}, nil
				}
				sent, want := "ADDED 7", version
				if next != "" {
					sent, want = fmt.Sprintf("ADDED 7, %s 9, ADDED 12", next), "12"
				}
				runFor(t, 3*time.Minute, run, plainListWatch(list, func(o metav1.ListOptions) (watch.Interface, error) {
					asked = append(asked, o.ResourceVersion)
					w := watch.NewFakeWithChanSize(3, false)
					w.Add(fakeapi.ConfigMap("a", "7"))
					if next != "" {
						w.Action(next, fakeapi.ConfigMap("a", "9"))
						w.Add(fakeapi.ConfigMap("b", "12"))
					}
					time.AfterFunc(time.Minute, w.Stop)
					return w, nil
				}), newStore())
				if len(asked) < 2 {
					t.Fatalf("%d watches, want at least 2", len(asked))
				}
				if asked[1] != want {
					t.Errorf("a watch from version %q has sent %s, and the second watch is from %q, want %q",
						version, sent, asked[1], want)
				}
			}
		}
	})
}

// When the server is back, a list that is needed does not wait for the pause of the watches.
// client-go's reflector has one series of pauses for both.
func TestRefusedWatchesDoNotDelayTheNextList(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old").Status()
	testBoth(t, func(t *testing.T, name string, run runFunc) {
		var lists, watches []time.Time
		list := func(o metav1.ListOptions) (runtime.Object, error) {
			lists = append(lists, time.Now())
			return emptyList(o)
		}
		const refused = 5 // watches; the next one is answered, and needs a list
		runFor(t, 3*time.Minute, run, plainListWatch(list, func(metav1.ListOptions) (watch.Interface, error) {
			watches = append(watches, time.Now())
			if len(watches) <= refused {
				return nil, errRefused
			}
			w := watch.NewFakeWithChanSize(1, false)
			w.Error(&expired)
			return w, nil
		}), newStore())
		if len(lists) < 2 || len(watches) <= refused {
			t.Fatalf("%d lists and %d watches, want at least 2 and %d", len(lists), len(watches), refused+1)
		}
		pause := lists[1].Sub(watches[refused])
		if name == ours && pause > 2*defaultBackoffInit {
			t.Errorf("the pause before the list is %v, want the shortest one: at most %v", pause, 2*defaultBackoffInit)
		}
		if name == clientGo && pause <= 2*defaultBackoffInit {
			t.Errorf("the pause before client-go's list is %v, want a longer one", pause)
		}
	})
}

// If the server refuses a version, the reflector asks for the newest one until a list succeeds.
// Meanwhile the store still has the version that it had.
func TestARefusedVersionIsAskedForOnce(t *testing.T) {
	type answer struct {
		version string // of the list
		err     error
	}
	answers := []answer{
		{version: "5"},
		{err: apierrors.NewResourceExpired("too old")},
		{err: apierrors.NewServiceUnavailable("later")},
		{err: tooLarge()}, // even the newest version, and twice
		{err: tooLarge()},
		{version: "9"},
		{version: "10"},
	}
	var asked, reached []string
	list := func(o metav1.ListOptions) (runtime.Object, error) {
		next := answers[len(asked)]
		asked = append(asked, o.ResourceVersion)
		return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: next.version}}, next.err
	}
	lw := plainListWatch(list, refuseWatch(apierrors.NewBadRequest("no")))
	r := New(Options{ListerWatcher: lw, Store: newStore()})
	for len(asked) < len(answers) {
		if err := r.ListAndWatch(t.Context()); err == nil {
			t.Fatal("ListAndWatch() = nil, want the error of a list, or of the watch")
		}
		reached = append(reached, r.LastSyncResourceVersion())
	}
	if want := []string{"0", "5", "", "", "", "", "9"}; !slices.Equal(asked, want) {
		t.Errorf("listed from %q, want %q", asked, want)
	}
	if want := []string{"5", "5", "5", "9", "10"}; !slices.Equal(reached, want) {
		t.Errorf("the versions of the store after each try are %q, want %q", reached, want)
	}
}

// A watch that has ended still has to be stopped: it may hold a connection.
func TestTheWatchOfAListThatBreaksOffIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var watches []*watch.ProxyWatcher
		runFor(t, time.Minute, reflectors(nil)[ours], streamingListWatch(func() watch.Interface {
			events := make(chan watch.Event, 1)
			events <- watch.Event{Type: watch.Added, Object: configMap("a")}
			close(events)
			w := watch.NewProxyWatcher(events)
			watches = append(watches, w)
			return w
		}), newStore())
		for i, w := range watches {
			if !w.Stopping() {
				t.Errorf("watch %d of %d was not stopped, want all of them to be stopped", i+1, len(watches))
			}
		}
	})
}
