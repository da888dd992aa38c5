// What the buttons do, on a fake clientset and in fake time.

package xray

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"example.com/informer/07-shared-informer/xray/recorder"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func inBubble(t *testing.T, do func(t *testing.T, r rig), names ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		for _, name := range names {
			must.Do(t, client.Tracker().Add(configMap(name, "", "web")))
		}
		r := rigOf(t, newSubject(client))
		time.Sleep(time.Second) // until the slow handlers have got the initial list
		r.settle()
		do(t, r)
		r.stop()
	})
}

func (r rig) keys() []string { return r.stations()["store"].Keys }

func (r rig) handlerOf(lane, name string) station {
	r.t.Helper()
	prefixes := map[string]string{recorder.Ours: "handlers/", recorder.Theirs: "client-go/handlers/"}
	return r.stations()[prefixes[lane]+name]
}

// wantInBoth compares a handler in both lanes.
func (r rig) wantInBoth(name string, calls, waiting int) {
	r.t.Helper()
	for _, lane := range []string{recorder.Ours, recorder.Theirs} {
		if got := r.handlerOf(lane, name); got.Calls != calls || got.Waiting != waiting {
			r.t.Errorf("%s: %+v", lane, got)
		}
	}
}

func wantRefused(t *testing.T, err error, status int, text string) {
	t.Helper()
	if got := statusOf(err); err == nil || got != status || !strings.Contains(err.Error(), text) {
		t.Errorf("got %d %v\nwant %d %s", got, err, status, text)
	}
}

func TestObjectsAreChanged(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		for _, name := range []string{"red-1", "blue-2"} {
			got := r.must(order{Action: "create"})
			expect.That(t, got == "ConfigMap "+name+" was created.", "%v", got)
		}
		got := r.keys()
		expect.That(t, slices.Equal(got, []string{"ns/blue-2", "ns/red-1"}), "keys: %q", got)
		for _, app := range []string{"db", "cache", "web", "db"} {
			got := r.must(order{Action: "relabel", Name: "blue-2"})
			expect.That(t, strings.HasPrefix(got, "blue-2 has the label app="+app+" now."), "%v", got)
		}
		store := r.stations()["store"]
		apps := store.Indexes["app"]
		expect.That(t, apps["db"] == 1 && apps["web"] == 1 && len(apps) == 2, "indexes: %v", store.Indexes)
		r.must(order{Action: "recreate", Name: "red-1"})
		r.wantCaption("red-1 was deleted and created again")
		r.must(order{Action: "delete", Name: "red-1"})
		got = r.keys()
		expect.That(t, slices.Equal(got, []string{"ns/blue-2"}), "keys: %q", got)
		_, err := r.do(order{Action: "delete", Name: "red-1"})
		wantRefused(t, err, http.StatusNotFound, `there is no ConfigMap "red-1" in the store`)
		_, err = r.do(order{Action: "delete", Name: "../other/red-1"})
		wantRefused(t, err, http.StatusNotFound, "in the store")
		_, err = r.do(order{Action: "relabel"})
		wantRefused(t, err, http.StatusNotFound, "create one")
	})
}

func TestTheConnectionIsCut(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.must(order{Action: "cut"})
		got := r.stations()["server"]
		expect.That(t, got.Cut && !got.Connected, "%+v", got)
		r.must(order{Action: "restore"})
		got = r.stations()["server"]
		expect.That(t, !got.Cut && got.Connected, "%+v", got)
		r.wantCaption("The cable is pulled out")
		r.wantCaption("The cable is plugged in")
	})
}

// Both lanes list again.
func TestWatchesExpire(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		received := r.stations()["client-go/informer"].Received
		if got := r.must(order{Action: "expire"}); !strings.HasSuffix(got, ": 2.") {
			t.Error(got)
		}
		_, err := r.do(order{Action: "expire"})
		wantRefused(t, err, http.StatusConflict, "no open watch")
		if got := r.stations()["reflector"]; got.Doing != "backing off" || got.Until == 0 {
			t.Errorf("%+v", got)
		}
		time.Sleep(10 * time.Second)
		r.settle()
		got := r.stations()["reflector"]
		lists := r.stations()["server"].Lists
		expect.That(t, got.Doing == "watching" && got.Error == "" && lists == 2, "%+v, %d lists", got, lists)
		theirs := r.stations()["client-go/informer"]
		expect.That(t, theirs.Received == received+2 && theirs.Objects == 2,
			"client-go: %+v, had received %d", theirs, received)
		r.wantCaption("410 Expired")
		r.wantCaption("(a relist)")
	}, "a", "b")
}

func TestAResync(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		before := r.stations()["server"]
		calls := r.handlerOf(recorder.Theirs, recorder.Fast).Calls
		r.must(order{Action: "resync"})
		got := r.handlerOf(recorder.Ours, recorder.Fast)
		expect.That(t, got.Calls == 4, "%+v", got)
		after := r.stations()["server"]
		expect.That(t, reflect.DeepEqual(after, before), "the server: %+v, before %+v", after, before)
		now := r.handlerOf(recorder.Theirs, recorder.Fast).Calls
		expect.That(t, now == calls, "client-go's handler got %d calls more", now-calls)
		r.wantCaption("No request was made")
	}, "a", "b")
}

func TestHandlersComeAndGo(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		got := r.must(order{Action: "add", Pace: recorder.Slow})
		expect.That(t, got == "handler-3 joins, and is slow.", "%v", got)
		r.wantInBoth("handler-3", 0, 2)
		r.wantCaption("handler-3 joins late. It gets 2 initial adds from a snapshot of the store.")
		time.Sleep(time.Second)
		r.wantInBoth("handler-3", 2, 0)
		for _, lane := range []string{recorder.Ours, recorder.Theirs} {
			got := r.handlerOf(lane, "handler-3")
			expect.That(t, got.Pace == recorder.Slow && got.Last.Change == "initial" && got.Last.TookMs == 200,
				"%s: %+v", lane, got)
		}
		r.must(order{Action: "pace", Handler: "handler-3", Pace: recorder.Fast})
		r.must(order{Action: "create"})
		third := r.handlerOf(recorder.Ours, "handler-3")
		expect.That(t, third.Calls == 3 && third.Pace == recorder.Fast, "%+v", third)
		r.must(order{Action: "remove", Handler: "handler-3"})
		for name := range r.stations() {
			expect.That(t, !strings.Contains(name, "handler-3"), "%s is still there", name)
		}
		for _, o := range []order{
			{Action: "remove", Handler: "handler-3"}, {Action: "pace", Handler: "x", Pace: recorder.Fast},
		} {
			_, err := r.do(o)
			wantRefused(t, err, http.StatusNotFound, "there is no handler")
		}
		for _, o := range []order{{Action: "add", Pace: "lazy"}, {Action: "pace", Handler: recorder.Fast, Pace: ""}} {
			_, err := r.do(o)
			wantRefused(t, err, http.StatusBadRequest, "there is no pace")
		}
		for range maxHandlers - 2 {
			r.must(order{Action: "add", Pace: recorder.Fast})
		}
		_, err := r.do(order{Action: "add", Pace: recorder.Fast})
		wantRefused(t, err, http.StatusConflict, "remove one first")
	}, "a", "b")
}

// A stalled handler returns when its pace changes, when it is removed, and at the end.
func TestAStalledHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		for range 3 {
			r.must(order{Action: "add", Pace: recorder.Stalled})
		}
		r.must(order{Action: "create"})
		time.Sleep(time.Minute)
		r.wantInBoth("handler-3", 0, 2)
		r.wantInBoth(recorder.Fast, 2, 0)
		r.must(order{Action: "pace", Handler: "handler-3", Pace: recorder.Fast})
		r.wantInBoth("handler-3", 2, 0)
		r.must(order{Action: "remove", Handler: "handler-4"})
		r.wantCaption("handler-5 stalls")
		r.stop() // handler-5 is in its call
	}, "a")
}
