// What the buttons do, on a fake clientset and in fake time.

package xray

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

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

func (r rig) keys() []string { return station[storeStation](r.t, r.recorder, "store").Keys }

func (r rig) handlerOf(lane, name string) handlerStation {
	r.t.Helper()
	prefix := map[string]string{ours: "handlers/", clientGo: "client-go/handlers/"}[lane]
	return station[handlerStation](r.t, r.recorder, prefix+name)
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
			if got := r.must(order{Action: "create"}); got != "ConfigMap "+name+" was created." {
				t.Error(got)
			}
		}
		if got := r.keys(); !slices.Equal(got, []string{"ns/blue-2", "ns/red-1"}) {
			t.Errorf("keys: %q", got)
		}
		for _, app := range []string{"db", "cache", "web", "db"} {
			if got := r.must(order{Action: "relabel"}); got != "ConfigMap blue-2 has the label app="+app+" now." {
				t.Error(got)
			}
		}
		store := station[storeStation](t, r.recorder, "store")
		if apps := store.Indexes["app"]; apps["db"] != 1 || apps["web"] != 1 || len(apps) != 2 {
			t.Errorf("indexes: %v", store.Indexes)
		}
		r.must(order{Action: "recreate", Name: "red-1"})
		wantCaption(t, r.recorder, "red-1 was deleted and created again")
		r.must(order{Action: "delete", Name: "red-1"})
		if got := r.keys(); !slices.Equal(got, []string{"ns/blue-2"}) {
			t.Errorf("keys: %q", got)
		}
		_, err := r.do(order{Action: "delete", Name: "red-1"})
		wantRefused(t, err, http.StatusNotFound, `there is no ConfigMap "red-1" in the store`)
		_, err = r.do(order{Action: "delete", Name: "../other/red-1"})
		wantRefused(t, err, http.StatusNotFound, "in the store")
		r.must(order{Action: "delete"})
		_, err = r.do(order{Action: "relabel"})
		wantRefused(t, err, http.StatusNotFound, "create one first")
	})
}

func TestManyUpdates(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		for _, n := range []int{0, -1, maxUpdates + 1} {
			_, err := r.do(order{Action: "update", Count: n})
			wantRefused(t, err, http.StatusBadRequest, "want 1 to 10000")
		}
		r.Informer.SetPatience(50)
		r.must(order{Action: "update", Count: 300}) // of an object that it makes
		r.settle()
		for _, lane := range []string{ours, clientGo} {
			if got := r.handlerOf(lane, fast); got.Calls != 301 || got.Waiting != 0 {
				t.Errorf("%s: %+v", lane, got)
			}
		}
		if got := r.handlerOf(clientGo, slow); got.Calls+got.Waiting != 301 {
			t.Errorf("client-go's slow handler: %+v", got)
		}
		if got := r.handlerOf(ours, slow); got.Calls+got.Waiting+*got.Folded != 301 || *got.Folded == 0 {
			t.Errorf("our slow handler: %+v", got)
		}
		if _, there := r.recorder.state().Set["bulk"]; there {
			t.Error("the updates are made, and still under way")
		}
		wantCaption(t, r.recorder, "300 updates are made.")
	})
}

// They end with the context, whatever the API server does.
func TestManyUpdatesOneAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.Objects.Patch = func(ctx context.Context, _ string, _ []byte) error { <-ctx.Done(); return ctx.Err() }
		r.must(order{Action: "update", Count: 10_000})
		if got := station[bulkStation](t, r.recorder, "bulk"); got != (bulkStation{"10,000 updates", 0, 10_000}) {
			t.Errorf("bulk: %+v", got)
		}
		_, err := r.do(order{Action: "update", Count: 1})
		wantRefused(t, err, http.StatusConflict, "under way")
		r.stop()
		_, err = r.do(order{Action: "update", Count: 1})
		wantRefused(t, err, http.StatusServiceUnavailable, "canceled")
	}, "a")
}

func TestManyUpdatesThatFail(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.Objects.Patch = func(context.Context, string, []byte) error { return errors.New("not today") }
		r.must(order{Action: "update", Count: 100})
		r.settle()
		wantCaption(t, r.recorder, "The updates were broken off: not today")
	}, "a")
}

func TestTheConnectionIsCut(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.must(order{Action: "cut"})
		if got := station[serverStation](t, r.recorder, "server"); !got.Cut || got.Connected {
			t.Errorf("%+v", got)
		}
		r.must(order{Action: "restore"})
		if got := station[serverStation](t, r.recorder, "server"); got.Cut || !got.Connected {
			t.Errorf("%+v", got)
		}
		wantCaption(t, r.recorder, "The cable is pulled out")
		wantCaption(t, r.recorder, "The cable is plugged in")
		r.stop()
		r.Line = nil
		_, err := r.do(order{Action: "cut"})
		wantRefused(t, err, http.StatusConflict, "cannot be cut")
	})
}

// Both lanes list again.
func TestWatchesExpire(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		received := station[informerStation](t, r.recorder, "client-go/informer").Received
		if got := r.must(order{Action: "expire"}); !strings.HasSuffix(got, ": 2.") {
			t.Error(got)
		}
		_, err := r.do(order{Action: "expire"})
		wantRefused(t, err, http.StatusConflict, "no open watch")
		if got := station[reflectorStation](t, r.recorder, "reflector"); got.Doing != "backing off" || got.Until == 0 {
			t.Errorf("%+v", got)
		}
		time.Sleep(10 * time.Second)
		r.settle()
		got := station[reflectorStation](t, r.recorder, "reflector")
		lists := station[serverStation](t, r.recorder, "server").Lists
		if got.Doing != "watching" || got.Error != "" || lists != 2 {
			t.Errorf("%+v, %d lists", got, lists)
		}
		theirs := station[informerStation](t, r.recorder, "client-go/informer")
		if theirs != (informerStation{received + 2, 2}) {
			t.Errorf("client-go: %+v, had received %d", theirs, received)
		}
		wantCaption(t, r.recorder, "410 Expired")
		wantCaption(t, r.recorder, "(a relist)")
	}, "a", "b")
}

func TestAResync(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		before := station[serverStation](t, r.recorder, "server")
		calls := r.handlerOf(clientGo, fast).Calls
		r.must(order{Action: "resync"})
		if got := r.handlerOf(ours, fast); got.Calls != 4 {
			t.Errorf("%+v", got)
		}
		if after := station[serverStation](t, r.recorder, "server"); after != before {
			t.Errorf("the server: %+v, before %+v", after, before)
		}
		if got := r.handlerOf(clientGo, fast).Calls; got != calls {
			t.Errorf("client-go's handler got %d calls more", got-calls)
		}
		wantCaption(t, r.recorder, "No request was made")
	}, "a", "b")
}

func TestHandlersComeAndGo(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		if got := r.must(order{Action: "add", Pace: slow}); got != "handler-3 joins, and is slow." {
			t.Error(got)
		}
		for _, lane := range []string{ours, clientGo} {
			got := r.handlerOf(lane, "handler-3")
			if got.Waiting != 2 || got.Calls != 0 || !got.InCall || got.Pace != slow {
				t.Errorf("%s: %+v", lane, got)
			}
		}
		wantCaption(t, r.recorder, "handler-3 joins late. It gets 2 initial adds from a snapshot of the store.")
		time.Sleep(time.Second)
		for _, lane := range []string{ours, clientGo} {
			got := r.handlerOf(lane, "handler-3")
			if got.Waiting != 0 || got.Calls != 2 || got.InCall || got.Last.Change != "initial" ||
				got.Last.TookMs != 200 {
				t.Errorf("%s: %+v, %+v", lane, got, got.Last)
			}
		}
		r.must(order{Action: "pace", Handler: "handler-3", Pace: fast})
		r.must(order{Action: "create"})
		if got := r.handlerOf(ours, "handler-3"); got.Calls != 3 || got.Pace != fast {
			t.Errorf("%+v", got)
		}
		r.must(order{Action: "remove", Handler: "handler-3"})
		for name := range r.recorder.state().Set {
			if strings.Contains(name, "handler-3") {
				t.Errorf("%s is still there", name)
			}
		}
		for _, o := range []order{
			{Action: "remove", Handler: "handler-3"}, {Action: "pace", Handler: "x", Pace: fast},
		} {
			_, err := r.do(o)
			wantRefused(t, err, http.StatusNotFound, "there is no handler")
		}
		for _, o := range []order{{Action: "add", Pace: "lazy"}, {Action: "pace", Handler: fast, Pace: ""}} {
			_, err := r.do(o)
			wantRefused(t, err, http.StatusBadRequest, "there is no pace")
		}
		for range maxHandlers - 2 {
			r.must(order{Action: "add", Pace: fast})
		}
		_, err := r.do(order{Action: "add", Pace: fast})
		wantRefused(t, err, http.StatusConflict, "remove one first")
	}, "a", "b")
}

// The limit holds when many ask at the same time.
func TestManyHandlersAtOnce(t *testing.T) {
	r := newRig(t)
	for range 20 {
		var asking sync.WaitGroup
		var added atomic.Int64
		begin := make(chan struct{})
		for range 5 * maxHandlers {
			asking.Go(func() {
				<-begin
				if _, err := r.XRay.addHandler(t.Context(), r.Subject, order{Pace: fast}); err == nil {
					added.Add(1)
				} else if statusOf(err) != http.StatusConflict {
					t.Error(err)
				}
			})
		}
		close(begin)
		asking.Wait()
		all := r.handlers()
		if len(all) != maxHandlers || added.Load() != maxHandlers-2 {
			t.Fatalf("%d handlers, %d of them added; want %d, two from the start", len(all), added.Load(), maxHandlers)
		}
		for _, m := range all {
			if name := m.lanes[0].name; name != fast && name != slow {
				_, err := r.removeHandler(t.Context(), r.Subject, order{Handler: name})
				must.Do(t, err)
			}
		}
	}
}

// A stalled handler returns when its pace changes, when it is removed, and at the end.
func TestAStalledHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		for range 3 {
			r.must(order{Action: "add", Pace: stalled})
		}
		r.must(order{Action: "create"})
		time.Sleep(time.Minute)
		for _, lane := range []string{ours, clientGo} {
			if got := r.handlerOf(lane, "handler-3"); got.Calls != 0 || got.Waiting != 2 || !got.InCall {
				t.Errorf("%s: %+v", lane, got)
			}
			if got := r.handlerOf(lane, fast); got.Calls != 2 || got.Waiting != 0 {
				t.Errorf("%s: %+v", lane, got)
			}
		}
		r.must(order{Action: "pace", Handler: "handler-3", Pace: fast})
		for _, lane := range []string{ours, clientGo} {
			if got := r.handlerOf(lane, "handler-3"); got.Calls != 2 || got.Waiting != 0 || got.InCall {
				t.Errorf("%s: %+v", lane, got)
			}
		}
		r.must(order{Action: "remove", Handler: "handler-4"})
		wantCaption(t, r.recorder, "handler-5 stalls")
		r.stop() // handler-5 is in its call
	}, "a")
}

// What is not in the store cannot be changed, and what cannot be shown is not.
func TestAnObjectOfAnotherNamespaceAndASecret(t *testing.T) {
	s := &Subject{Kind: "Secret", namespace: "ns"}
	if s.mayShow(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}) {
		t.Error("a Secret is shown")
	}
	s.Kind = "ConfigMap"
	other := configMap("a", "1", "")
	other.Namespace = "other"
	if s.mayShow(other) || s.shown(other) != nil {
		t.Error("an object of another namespace is shown")
	}
	if !s.mayShow(configMap("a", "1", "")) {
		t.Error("an object of the namespace is not shown")
	}
}
