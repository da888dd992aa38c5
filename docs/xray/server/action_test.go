// What the buttons do, on a fake clientset and in fake time.

package server

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes/fake"

	"example.com/informer/docs/xray/recorder"
	"example.com/informer/scripts/harness/must"
)

func TestObjectsAreChanged(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		for _, name := range []string{"red-1", "blue-2"} {
			if got, want := f.mustDo(actionRequest{Action: "create"}), "ConfigMap "+name+" was created."; got != want {
				t.Errorf("create: %q, want %q", got, want)
			}
		}
		f.wantKeys("ns/blue-2", "ns/red-1")

		for _, app := range []string{"db", "cache", "web", "db"} {
			got := f.mustDo(actionRequest{Action: "relabel", Name: "blue-2"})
			if want := "blue-2 has the label app=" + app + " now."; !strings.HasPrefix(got, want) {
				t.Errorf("relabel: %q, want %q at its start", got, want)
			}
		}
		want := map[string]map[string]int{"app": {"db": 1, "web": 1}}
		if diff := cmp.Diff(want, f.station("store").Indexes); diff != "" {
			t.Errorf("indexes differ (-want +got):\n%s", diff)
		}

		f.mustDo(actionRequest{Action: "recreate", Name: "red-1"})
		f.wantCaption("red-1 was deleted and created again")
		f.mustDo(actionRequest{Action: "delete", Name: "red-1"})
		f.wantKeys("ns/blue-2")

		_, err := f.do(actionRequest{Action: "delete", Name: "red-1"})
		wantRefused(t, err, http.StatusNotFound, `there is no ConfigMap "red-1" in the store`)
		_, err = f.do(actionRequest{Action: "delete", Name: "../other/red-1"})
		wantRefused(t, err, http.StatusNotFound, "in the store")
		_, err = f.do(actionRequest{Action: "relabel"})
		wantRefused(t, err, http.StatusNotFound, "create one")
	})
}

func TestTheConnectionIsCut(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		f.mustDo(actionRequest{Action: "cut"})
		if got := f.station("server"); !got.Cut || got.Connected {
			t.Errorf("after a cut: cut = %t, connected = %t; want true, false", got.Cut, got.Connected)
		}
		f.mustDo(actionRequest{Action: "restore"})
		if got := f.station("server"); got.Cut || !got.Connected {
			t.Errorf("after a restore: cut = %t, connected = %t; want false, true", got.Cut, got.Connected)
		}
		f.wantCaption("The cable is pulled out")
		f.wantCaption("The cable is plugged in")
	})
}

// The watches of both informers expire, and both list again.
func TestWatchesExpire(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		received := f.station("client-go/informer").Received
		if got, want := f.mustDo(actionRequest{Action: "expire"}), ": 2."; !strings.HasSuffix(got, want) {
			t.Errorf("expire: %q, want %q at its end", got, want)
		}
		_, err := f.do(actionRequest{Action: "expire"})
		wantRefused(t, err, http.StatusConflict, "no open watch")
		if got := f.station("reflector"); got.Doing != "backing off" || got.Until == 0 {
			t.Errorf("the reflector is %q until %d, want it backing off until some time", got.Doing, got.Until)
		}

		time.Sleep(10 * time.Second)
		f.settle()
		if got := f.station("reflector"); got.Doing != "watching" || got.Error != "" {
			t.Errorf("ten seconds later the reflector is %q with error %q, want it watching, and no error", got.Doing,
				got.Error)
		}
		if got := f.station("server").Lists; got != 2 {
			t.Errorf("our reflector has listed %d times, want 2", got)
		}
		got := f.station("client-go/informer")
		if got.Received != received+2 || got.Objects != 2 {
			t.Errorf("client-go's informer has received %d, and has %d objects; want %d and 2", got.Received,
				got.Objects, received+2)
		}
		f.wantCaption("410 Expired")
		f.wantCaption("(a relist)")
	}, "a", "b")
}

// A resync makes no request, and client-go's informer has none.
func TestAResync(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		server := f.station("server")
		clientGoCalls := f.handlerStation(recorder.ClientGo, "fast").Calls
		f.mustDo(actionRequest{Action: "resync"})
		if got := f.handlerStation(recorder.Ours, "fast").Calls; got != 4 {
			t.Errorf("our handler has %d calls, want 4: 2 initial adds and 2 resyncs", got)
		}
		if got := f.handlerStation(recorder.ClientGo, "fast").Calls; got != clientGoCalls {
			t.Errorf("client-go's handler has %d calls, want %d as before", got, clientGoCalls)
		}
		if diff := cmp.Diff(server, f.station("server")); diff != "" {
			t.Errorf("the server differs (-before +after):\n%s", diff)
		}
		f.wantCaption("No request was made")
	}, "a", "b")
}

func TestHandlersComeAndGo(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		got := f.mustDo(actionRequest{Action: "add", Speed: recorder.Slow})
		if want := "handler-3 joins, and is slow."; got != want {
			t.Errorf("add: %q, want %q", got, want)
		}
		f.wantInBoth("handler-3", 0, 2)
		f.wantCaption("handler-3 joins late. It gets 2 initial adds from the store.")
		time.Sleep(time.Second)
		f.wantInBoth("handler-3", 2, 0)
		for _, implementation := range implementations {
			got := f.handlerStation(implementation, "handler-3")
			if got.Speed != recorder.Slow {
				t.Errorf("%s: handler-3 is %s, want slow", implementation, got.Speed)
			}
			if got.Last.Change != "initial" || got.Last.TookMs != 200 {
				t.Errorf("%s: the last call of handler-3 was %q and took %v ms, want initial, 200", implementation,
					got.Last.Change, got.Last.TookMs)
			}
		}

		f.mustDo(actionRequest{Action: "speed", Handler: "handler-3", Speed: recorder.Fast})
		f.mustDo(actionRequest{Action: "create"})
		if got := f.handlerStation(recorder.Ours, "handler-3"); got.Calls != 3 || got.Speed != recorder.Fast {
			t.Errorf("handler-3 has %d calls and is %s, want 3 and fast", got.Calls, got.Speed)
		}
		f.mustDo(actionRequest{Action: "remove", Handler: "handler-3"})
		for name := range f.stations() {
			if strings.Contains(name, "handler-3") {
				t.Errorf("there is a station %s, and its handler was removed", name)
			}
		}
	}, "a", "b")
}

// Our informer has stopped, and client-go's has not.
func TestAHandlerIsAddedToBothInformersOrToNone(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		f.Informer.Stop()
		f.settle()
		if _, err := f.do(actionRequest{Action: "add", Speed: recorder.Fast}); err == nil {
			t.Error("add: no error, want that the informer has stopped")
		}
		for name := range f.stations() {
			if strings.Contains(name, "handler-3") {
				t.Errorf("there is a station %s, and its handler was not added", name)
			}
		}
		if got := len(f.handlers); got != 2 {
			t.Errorf("the page has %d handlers, want the 2 of the start", got)
		}
	}, "a")
}

func TestHandlersThatAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		f.mustDo(actionRequest{Action: "add", Speed: recorder.Fast})
		f.mustDo(actionRequest{Action: "remove", Handler: "handler-3"})
		for _, request := range []actionRequest{
			{Action: "remove", Handler: "handler-3"},
			{Action: "speed", Handler: "x", Speed: recorder.Fast},
		} {
			_, err := f.do(request)
			wantRefused(t, err, http.StatusNotFound, "there is no handler")
		}
		for _, request := range []actionRequest{
			{Action: "add", Speed: "lazy"},
			{Action: "speed", Handler: "fast", Speed: ""},
		} {
			_, err := f.do(request)
			wantRefused(t, err, http.StatusBadRequest, "there is no speed")
		}
		for range maxHandlers - 2 {
			f.mustDo(actionRequest{Action: "add", Speed: recorder.Fast})
		}
		_, err := f.do(actionRequest{Action: "add", Speed: recorder.Fast})
		wantRefused(t, err, http.StatusConflict, "remove one first")
	})
}

// The limit holds when many requests come at the same time.
func TestManyHandlersAtOnce(t *testing.T) {
	f := newFixture(t, newOptions(t, fake.NewClientset()))
	for range 20 {
		var asking sync.WaitGroup
		var added atomic.Int64
		begin := make(chan struct{})
		for range 5 * maxHandlers {
			asking.Go(func() {
				<-begin
				_, err := addHandler(t.Context(), f.pair, actionRequest{Speed: recorder.Fast})
				if err == nil {
					added.Add(1)
				} else if got := statusOf(err); got != http.StatusConflict {
					t.Errorf("add: error %d %v, want %d", got, err, http.StatusConflict)
				}
			})
		}
		close(begin)
		asking.Wait()
		names := slices.Collect(maps.Keys(f.handlers))
		if len(names) != maxHandlers {
			t.Errorf("there are %d handlers, want %d: %q", len(names), maxHandlers, names)
		}
		if got := added.Load(); got != maxHandlers-2 {
			t.Errorf("%d handlers were added, want %d: two are there from the start", got, maxHandlers-2)
		}
		for _, name := range names {
			if name != "fast" && name != "slow" {
				_, err := removeHandler(t.Context(), f.pair, actionRequest{Handler: name})
				must.NoError(t, err)
			}
		}
	}
}

// A stalled handler returns when its speed changes, when it is removed, and at the end.
func TestAStalledHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		for range 3 {
			f.mustDo(actionRequest{Action: "add", Speed: recorder.Stalled})
		}
		f.mustDo(actionRequest{Action: "create"})
		time.Sleep(time.Minute)
		f.wantInBoth("handler-3", 0, 2)
		f.wantInBoth("fast", 2, 0)
		f.mustDo(actionRequest{Action: "speed", Handler: "handler-3", Speed: recorder.Fast})
		f.wantInBoth("handler-3", 2, 0)
		f.mustDo(actionRequest{Action: "remove", Handler: "handler-4"})
		f.wantCaption("handler-5 stalls")
		f.stop() // handler-5 is in its call
	}, "a")
}
