// Tests of resyncs.

package informer_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// every returns options with a resync period.
func every(period time.Duration) cache.HandlerOptions {
	return cache.HandlerOptions{ResyncPeriod: &period}
}

func resyncing(period time.Duration) cache.SharedIndexInformerOptions {
	return cache.SharedIndexInformerOptions{ResyncPeriod: period, Indexers: cache.Indexers{}}
}

// ticks returns a handler that records the times of its updates.
func ticks(l *record.Lines) cache.ResourceEventHandler {
	start := time.Now()
	return cache.ResourceEventHandlerFuncs{UpdateFunc: func(oldObj, newObj any) {
		if oldObj != newObj {
			l.Add("an update from %v to another object %v", oldObj, newObj)
		}
		l.Add("%v", time.Since(start))
	}}
}

// A handler gets the period that it asks for, but at least a second, "rounded up to a multiple of
// the informer's resync checking period". That is the shortest period that anybody asked for before
// the start.
func TestResyncPeriods(t *testing.T) {
	const second, everySecond = time.Second, "1s 2s 3s 4s 5s 6s 7s 8s 9s 10s 11s 12s"
	for _, test := range []struct {
		name     string
		shared   time.Duration        // the resync period of the informer
		other    time.Duration        // what another handler asks for before the start, if not 0
		late     bool                 // the handler joins after the start
		handler  cache.HandlerOptions // without a period, the handler gets the period of the informer
		want     string               // the times of its calls, in the first 12.5 s
		clientGo string               // the times of client-go's informer, if they differ from want
	}{
		{name: "the default is the informer's", shared: 4 * second, want: "4s 8s 12s"},
		{name: "the same for a late handler", shared: 4 * second, late: true, want: "4s 8s 12s"},
		{name: "zero is never", shared: 4 * second, handler: every(0), want: ""},
		{
			name: "zero is never, though others get resyncs", shared: 4 * second, other: second,
			handler: every(0), want: "",
		},
		// A negative period makes no sense. Ours takes it for zero, client-go for the informer's
		// period.
		{
			name: "less than zero", shared: 4 * second,
			handler: every(-1), want: "", clientGo: "4s 8s 12s",
		},
		{name: "an informer without resyncs does none", shared: 0, handler: every(second), want: ""},
		{name: "not even for a late handler", shared: 0, late: true, handler: every(second), want: ""},
		{
			name: "shorter than the informer's", shared: 5 * second,
			handler: every(3 * second), want: "3s 6s 9s 12s",
		},
		{
			name: "shorter than the informer's, and late", shared: 5 * second, late: true,
			handler: every(3 * second), want: "5s 10s",
		},
		{
			name: "shorter than another's, and late", shared: 9 * second, other: 4 * second, late: true,
			handler: every(3 * second), want: "4s 8s 12s",
		},
		{name: "shorter than a second", shared: 5 * second, handler: every(4), want: everySecond},
		{name: "shorter than a second, all of it", shared: time.Millisecond, want: everySecond},
		// The comment of NewSharedIndexInformerWithOptions says that the resync checking period is
		// a second at least. In client-go this holds for the period that a handler asks for, and
		// not for the period of the informer.
		{
			name: "rounded up to a second, and late", shared: second / 10, late: true,
			handler: every(second * 3 / 2), want: "2s 4s 6s 8s 10s 12s",
			clientGo: "1.5s 3s 4.5s 6s 7.5s 9s 10.5s 12s",
		},
		{name: "rounded up", shared: 4 * second, handler: every(5 * second), want: "8s"},
		{name: "rounded up, and late", shared: 4 * second, late: true, handler: every(5 * second), want: "8s"},
		{
			name: "rounded up to another's", shared: 9 * second, other: 2 * second,
			handler: every(5 * second), want: "6s 12s",
		},
		{
			name: "a multiple of another's", shared: 9 * second, other: 2 * second,
			handler: every(6 * second), want: "6s 12s",
		},
		{name: "the informer's, which is not a multiple", shared: 5 * second, other: 2 * second, want: "6s 12s"},
	} {
		clientGo := cmp.Or(test.clientGo, test.want)
		for name, want := range each(map[string]string{"client-go": clientGo, "ours": test.want}) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(implementations[name], resyncing(test.shared), configMap("a", "1"))
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
				if got := strings.Join(calls.Take(), " "); got != want {
					t.Errorf("%s, %s: called after %q, want %q", test.name, name, got, want)
				}
			})
		}
	}
}

// As the period of the informer, a negative period means never in ours. client-go's
// resyncs without a pause.
func TestAnInformerWhosePeriodIsNegative(t *testing.T) {
	for name, wantResyncs := range each(map[string]bool{"client-go": true, "ours": false}) {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], resyncing(-1), configMap("a", "1"))
			start, updates, took := time.Now(), 0, make(chan time.Duration, 1)
			r.handle(t, cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
				updates++
				if updates == 100 {
					took <- time.Since(start)
				}
			}})
			must.Run(t, r.RunWithContext)
			select {
			case d := <-took:
				if !wantResyncs || d != 0 {
					t.Errorf("%s: 100 resyncs in %v; want resyncs without a pause: %t", name, d, wantResyncs)
				}
			case <-time.After(24 * time.Hour):
				if wantResyncs {
					t.Errorf("%s: fewer than 100 resyncs in a day, want them without a pause", name)
				}
			}
		})
	}
}

// If a handler does not get the period that it asks for, the logger of its options gets a warning.
func TestAPeriodThatIsNotGrantedIsLogged(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		for _, test := range []struct {
			name   string
			shared time.Duration
			period time.Duration // of the handler
			late   bool          // the handler joins after the start
			want   bool          // a warning
		}{
			{name: "granted", shared: time.Second, period: 2 * time.Second, want: false},
			{name: "too short", shared: time.Minute, period: time.Millisecond, want: true},
			{name: "too short for a late handler", shared: time.Minute, period: time.Second, late: true, want: true},
			{name: "no resyncs", shared: 0, period: time.Second, want: true},
		} {
			text := logged(t, func(logger klog.Logger) {
				r := newRig(newInformer, resyncing(test.shared))
				if test.late {
					r.run(t)
				}
				r.recorder(t, cache.HandlerOptions{Logger: &logger, ResyncPeriod: &test.period})
			})
			if got := slices.Contains(strings.Fields(text), "Warning:"); got != test.want {
				t.Errorf("%s: logged %q, warning = %t; want %t", test.name, text, got, test.want)
			}
		}
	})
}
