// Which handlers get everything again, and when.

package informer

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// every asks for a resync period.
func every(period time.Duration) cache.HandlerOptions {
	return cache.HandlerOptions{ResyncPeriod: &period}
}

func resyncing(period time.Duration) cache.SharedIndexInformerOptions {
	return cache.SharedIndexInformerOptions{ResyncPeriod: period, Indexers: cache.Indexers{}}
}

// ticks returns a handler that writes down after how many seconds it got an
// update.
func ticks(l *record.Lines) cache.ResourceEventHandler {
	start := time.Now()
	return cache.ResourceEventHandlerFuncs{UpdateFunc: func(oldObj, newObj any) {
		if oldObj != newObj {
			l.Add("not the same object")
		}
		l.Add("%v", time.Since(start))
	}}
}

// The period that a handler gets: the one that it asks for, a second at least,
// "rounded up to a multiple of the informer's resync checking period", which is
// the shortest that anybody asked for before the start.
func TestResyncPeriods(t *testing.T) {
	const second, everySecond = time.Second, "1s 2s 3s 4s 5s 6s 7s 8s 9s 10s 11s 12s"
	byDefault := cache.HandlerOptions{}
	for _, test := range []struct {
		name     string
		informer time.Duration
		other    time.Duration        // what another handler asks for before the start, if not 0
		late     bool                 // the handler comes after the start
		handler  cache.HandlerOptions // by default it gets the informer's own
		want     string               // when it is called, in the first 12.5 s
		clientGo string               // if client-go's does something else
	}{
		{"the default is the informer's", 4 * second, 0, false, byDefault, "4s 8s 12s", ""},
		{"the same for a late one", 4 * second, 0, true, byDefault, "4s 8s 12s", ""},
		{"zero is never", 4 * second, 0, false, every(0), "", ""},
		{"zero is never, though others get resyncs", 4 * second, second, false, every(0), "", ""},
		// It makes no sense. Ours takes it for zero, client-go's makes the informer's own of it.
		{"less than zero", 4 * second, 0, false, every(-1), "", "4s 8s 12s"},
		{"an informer without resyncs does none", 0, 0, false, every(second), "", ""},
		{"not even for a late one", 0, 0, true, every(second), "", ""},
		{"shorter than the informer's", 5 * second, 0, false, every(3 * second), "3s 6s 9s 12s", ""},
		{"shorter than the informer's, and late", 5 * second, 0, true, every(3 * second), "5s 10s", ""},
		{"shorter than another's, and late", 9 * second, 4 * second, true, every(3 * second), "4s 8s 12s", ""},
		{"shorter than a second", 5 * second, 0, false, every(4), everySecond, ""},
		{"shorter than a second, all of it", time.Millisecond, 0, false, byDefault, everySecond, ""},
		// The comment of NewSharedIndexInformerWithOptions says that the resync checking
		// period is a second at least. There, it is so for a period that a handler asks
		// for, and not for the informer's own.
		{"rounded up to a second, and late", second / 10, 0, true, every(second * 3 / 2), "2s 4s 6s 8s 10s 12s",
			"1.5s 3s 4.5s 6s 7.5s 9s 10.5s 12s"},
		{"rounded up", 4 * second, 0, false, every(5 * second), "8s", ""},
		{"rounded up, and late", 4 * second, 0, true, every(5 * second), "8s", ""},
		{"rounded up to another's", 9 * second, 2 * second, false, every(5 * second), "6s 12s", ""},
		{"a multiple of another's", 9 * second, 2 * second, false, every(6 * second), "6s 12s", ""},
		{"the informer's, which is no multiple", 5 * second, 2 * second, false, byDefault, "6s 12s", ""},
	} {
		for name, want := range map[string]string{"client-go": cmp.Or(test.clientGo, test.want), "ours": test.want} {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(implementations[name], resyncing(test.informer), configMap("a", "1"))
				if test.other > 0 {
					r.recorder(t, every(test.other))
				}
				var calls record.Lines
				if test.late {
					r.run(t)
				}
				r.handle(t, ticks(&calls), test.handler)
				if !test.late {
					r.run(t)
				}
				time.Sleep(12500 * time.Millisecond)
				got := strings.Join(calls.Take(), " ")
				expect.That(t, got == want, "%s, %s: called after %s, want %s", test.name, name, got, want)
			})
		}
	}
}

// "it does not add any interactions with the authoritative storage"
func TestAResyncMakesNoRequest(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(time.Second), configMap("a", "1"), configMap("b", "1"))
		handler := r.recorder(t)
		r.run(t)
		handler.Take()
		time.Sleep(60 * time.Second)
		n := len(handler.Take())
		expect.That(t, n == 120, "called %d times in a minute, want 120: each object once a second", n)
		lists, watches := r.server.Lists(), r.watches.Load()
		expect.That(t, lists == 1 && watches == 1, "%d lists, %d watches; want 1 and 1", lists, watches)
	})
}

func TestAResyncIsOfAllThatIsStoredBeforeAndAfterChanges(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(time.Second), configMap("a", "1"), configMap("b", "1"))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Delete(configMap("a", "2"))
		w.Modify(configMap("b", "3"))
		handler.Take()
		time.Sleep(time.Second)
		handler.Want(t, "OnUpdate b 3, was 3")
	})
}

// A resync is for the handlers that are due, and a change for all.
func TestUnchangedObjectsOfARelistGoToHandlersThatWereDueLast(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(2*time.Second), configMap("a", "1"), configMap("b", "1"))
		due, never, seldom := r.recorder(t), r.recorder(t, every(0)), r.recorder(t, every(time.Hour))
		r.run(t)
		time.Sleep(2 * time.Second)
		for _, c := range []*recorder{due, never, seldom} {
			c.Take()
		}
		r.server.Set(configMap("a", "1"), configMap("b", "2"))
		fakeapi.Expire(r.server.NextWatch())
		time.Sleep(1600 * time.Millisecond) // the reflector's pause before it lists again, at most
		due.Want(t, "OnUpdate a 1, was 1", "OnUpdate b 2, was 1")
		never.Want(t, "OnUpdate b 2, was 1")
		seldom.Want(t, "OnUpdate b 2, was 1")
	})
}

// A handler that did not get the same version again still gets the right old state.
func TestTheOldStateIsRightForAHandlerThatSkippedAResync(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(time.Second), configMap("a", "1"))
		never := r.recorder(t, every(0))
		r.run(t)
		time.Sleep(10 * time.Second)
		r.server.NextWatch().Modify(configMap("a", "2"))
		never.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1")
	})
}

// AddEventHandlerWithResyncPeriod is the same with another signature.
func TestAddEventHandlerWithResyncPeriod(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(5*time.Second), configMap("a", "1"))
		var calls record.Lines
		_, err := r.AddEventHandlerWithResyncPeriod(ticks(&calls), 3*time.Second)
		must.Do(t, err)
		r.run(t)
		time.Sleep(10 * time.Second)
		calls.Want(t, "3s", "6s", "9s")
	})
}

// Where a handler does not get the period that it asks for, the logger of its
// options says so.
func TestAPeriodThatIsNotGrantedIsLogged(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		for _, test := range []struct {
			name             string
			informer, wanted time.Duration
			late, warned     bool
		}{
			{"granted", time.Second, 2 * time.Second, false, false},
			{"too short", time.Minute, time.Millisecond, false, true},
			{"too short by now", time.Minute, time.Second, true, true},
			{"no resyncs", 0, time.Second, false, true},
		} {
			text := logged(t, func(logger klog.Logger) {
				r := newRig(newInformer, resyncing(test.informer))
				if test.late {
					r.run(t)
				}
				r.recorder(t, cache.HandlerOptions{Logger: &logger, ResyncPeriod: &test.wanted})
			})
			warned := slices.Contains(strings.Fields(text), "Warning:")
			expect.That(t, warned == test.warned, "%s: logged %q, want a warning: %t", test.name, text, test.warned)
		}
	})
}
