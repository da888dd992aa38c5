// The parts that are compared.

package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"example.com/informer/docs/xray/recorder"
	"example.com/informer/scripts/harness/must"
)

// newShow shows a comparison, in which the object a is there from the start. The fixture is of its
// only pair.
func newShow(t *testing.T, first, second string) (*Show, fixture) {
	t.Helper()
	client := fake.NewClientset()
	must.NoError(t, client.Tracker().Add(configMap("a", "", "web")))
	ctx, cancel := context.WithCancel(context.Background())
	show, err := Compare(ctx, "ns", Comparison{first, second}, func() []*InformerOptions {
		o := newOptions(t, client)
		o.Informer = nil
		return []*InformerOptions{o}
	})
	must.NoError(t, err)
	f := show.fixture(t, func() { cancel(); show.Wait() })
	t.Cleanup(f.stop)
	return show, f
}

// fixture returns a fixture of what is shown now, when its handlers have the initial list.
func (s *Show) fixture(t *testing.T, stop func()) fixture {
	x := s.current.Load()
	f := fixture{XRay: x, pair: x.pairs[0], t: t, stop: stop}
	time.Sleep(time.Second)
	f.settle()
	return f
}

// Each set of parts beside each other one: changes reach the handlers of both informers.
func TestAnyTwoSetsOfParts(t *testing.T) {
	for _, first := range []string{"parttwo", "realfifo", "deltafifo"} {
		for _, second := range []string{"parttwo", "realfifo", "deltafifo", ClientGo} {
			t.Run(first+" beside "+second, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					before := must.Goroutines()
					_, f := newShow(t, first, second)
					beside := recorder.Second
					if second == ClientGo {
						beside = recorder.ClientGo
					}
					f.mustDo(actionRequest{Action: "create"})
					f.mustDo(actionRequest{Action: "add", Speed: recorder.Fast})
					f.mustDo(actionRequest{Action: "delete", Name: "a"})
					for _, implementation := range []recorder.Implementation{recorder.Ours, beside} {
						for name, calls := range map[string]int{"fast": 3, "handler-3": 3} {
							got := f.stations()[prefixOf(implementation)+"handlers/"+name]
							if got.Calls != calls || got.Waiting != 0 {
								t.Errorf("%s: handler %s has %d calls and %d waiting, want %d and 0", implementation,
									name, got.Calls, got.Waiting, calls)
							}
						}
					}
					_, hasQueue := f.stations()["queue"]
					if want := first != "parttwo"; hasQueue != want {
						t.Errorf("there is a station queue: %t, want %t", hasQueue, want)
					}
					f.stop()
					must.NoNewGoroutines(t, before)
				})
			})
		}
	}
}

func prefixOf(implementation recorder.Implementation) string {
	switch implementation {
	case recorder.Second:
		return "second/"
	case recorder.ClientGo:
		return "client-go/"
	}
	return ""
}

// While the loops stall, deltas wait: a DeltaFIFO groups them by object, and compares a list when it
// comes. A RealFIFO keeps them in order, and compares a list when it is popped.
func TestDeltasWaitWhileTheLoopStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, f := newShow(t, "deltafifo", "realfifo")
		f.mustDo(actionRequest{Action: "loop", Speed: recorder.Stalled})
		f.mustDo(actionRequest{Action: "relabel", Name: "a"})
		f.mustDo(actionRequest{Action: "delete", Name: "a"})
		f.mustDo(actionRequest{Action: "create"})
		f.mustDo(actionRequest{Action: "expire"})
		time.Sleep(10 * time.Second)
		f.settle()
		f.wantQueue("queue", "a update delete", "red-1 add listed")
		f.wantQueue("second/queue", "a update", "a delete", "red-1 add", "list of 1 object listed")
		if got := f.station("queue"); got.Dropped != 1 || got.Compared.Names != "a" {
			t.Errorf("the DeltaFIFO dropped %d, and missed %q; want 1 and a", got.Dropped, got.Compared.Names)
		}
		f.wantKeys("ns/a") // the store does not have the changes

		f.mustDo(actionRequest{Action: "loop", Speed: recorder.Fast})
		f.settle()
		f.wantQueue("queue")
		f.wantQueue("second/queue")
		f.wantKeys("ns/red-1")
		if got := f.station("second/queue").Compared; got.Listed != 1 || got.Missing != 0 {
			t.Errorf("the RealFIFO's list has %d objects, and %d are missing; want 1 and 0", got.Listed, got.Missing)
		}
		f.mustDo(actionRequest{Action: "loop", Speed: recorder.Stalled})
		f.mustDo(actionRequest{Action: "create"})
		f.stop() // while a delta waits
	})
}

// wantQueue compares what waits in a queue: each line has a key, and its deltas.
func (f fixture) wantQueue(name string, want ...string) {
	f.t.Helper()
	var got []string
	for _, item := range f.station(name).Items {
		got = append(got, strings.TrimPrefix(item.Key, "ns/")+" "+strings.Join(item.Deltas, " "))
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("%s has %q, want %q", name, got, want)
	}
}

// Other parts can be chosen. The page, its token and its limits stay; the informers begin again.
func TestOtherPartsAreChosen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := must.Goroutines()
		show, f := newShow(t, "parttwo", ClientGo)
		old := f
		f.mustDo(actionRequest{Action: "compare", First: "realfifo", Second: "parttwo"})
		f = show.fixture(t, f.stop)
		if old.XRay.ctx.Err() == nil {
			t.Error("the informers before are not stopped")
		}
		if f.view.Token != old.view.Token || f.limiter != old.limiter {
			t.Error("the token or the limiter has changed, want those of the page that is open")
		}
		for _, name := range []string{"queue", "channels", "second/store", "second/journal"} {
			f.station(name)
		}
		if _, shown := f.stations()["client-go/informer"]; shown {
			t.Error("there is a station of client-go's informer, which is not compared")
		}
		if status, body := f.get("/xray/state"); status != http.StatusOK ||
			!strings.Contains(body, `"first":"realfifo","second":"parttwo"`) {
			t.Errorf("the state: got %d %s, want the comparison in it", status, body)
		}
		if c, err := ParseComparison("deltafifo,client-go"); err != nil || c != (Comparison{"deltafifo", ClientGo}) {
			t.Errorf("ParseComparison() = %v, %v; want the two names", c, err)
		}
		_, err := ParseComparison("deltafifo")
		wantRefused(t, err, http.StatusBadRequest, "cannot show")
		for _, c := range []Comparison{{ClientGo, "parttwo"}, {"realfifo", ""}, {"x", ClientGo}} {
			_, err := f.do(actionRequest{Action: "compare", First: c.First, Second: c.Second})
			wantRefused(t, err, http.StatusBadRequest, "cannot show")
		}
		f.stop()
		must.NoNewGoroutines(t, before)
	})
}

func TestALoopThatIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) { // Part II's parts
		_, err := f.do(actionRequest{Action: "loop", Speed: recorder.Stalled})
		wantRefused(t, err, http.StatusConflict, "neither informer has a queue")
		_, err = f.do(actionRequest{Action: "loop", Speed: "lazy"})
		wantRefused(t, err, http.StatusBadRequest, "there is no speed")
		_, err = f.do(actionRequest{Action: "compare", First: "realfifo", Second: "parttwo"})
		wantRefused(t, err, http.StatusConflict, "no other parts")
	})
}
