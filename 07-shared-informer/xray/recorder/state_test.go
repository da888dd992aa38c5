// The state that events lead to, and the records of them.

package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/must"
)

func TestTheReflectorsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		want := func(server, reflector string, args ...any) {
			t.Helper()
			wantStation(t, r, "server", server)
			wantStation(t, r, "reflector", fmt.Sprintf(reflector, args...))
		}
		want(`{"connected":false,"lists":0}`, `{"doing":"stopped"}`)
		r.feed(observer.Event{Kind: observer.Listing, Stream: true})
		want(`{"connected":false,"lists":1,"watches":1}`, `{"doing":"streaming"}`) // a streamed list is both
		r.feed(observer.Event{Kind: observer.Ended, Err: errors.New("cannot stream")},
			observer.Event{Kind: observer.Listing, Version: "0"}, observer.Event{Kind: observer.Listing, Version: "0"})
		want(`{"connected":false}`, `{"doing":"listing","error":"cannot stream"}`)
		r.feed(observer.Event{Kind: observer.Listed, Version: "5", Count: 1},
			observer.Event{Kind: observer.Watching, Version: "5"})
		want(`{"connected":true,"lists":3,"watches":2}`, `{"doing":"watching","version":"5","error":"","events":0}`)

		time.Sleep(time.Second)
		last := time.Now().UnixMilli()
		added := observer.Event{Kind: observer.Received, Type: "ADDED", Key: "ns/a", Version: "6"}
		added.New = configMap("a", "6", "")
		r.feed(added, observer.Event{Kind: observer.Bookmark, Version: "7"})
		want(`{}`, `{"doing":"watching","version":"7","lastEvent":%d,"events":1,"bookmarks":1}`, last)
		time.Sleep(time.Second)
		r.feed(observer.Event{Kind: observer.Expired, Err: errors.New("too old")},
			observer.Event{Kind: observer.BackingOff, Took: time.Second})
		want(`{"connected":false}`, `{"doing":"backing off","until":%d,"version":"7","lastEvent":%d,"error":"too old"}`,
			last+2000, last)

		// The server does not have the version yet: the reflector asks for the stream again,
		// without a version.
		r.feed(observer.Event{Kind: observer.Listing, Version: "7", Stream: true},
			observer.Event{Kind: observer.Ended, Err: errors.New("too large")},
			observer.Event{Kind: observer.Listing, Stream: true})
		want(`{"connected":false,"lists":5,"watches":4}`, `{"doing":"streaming","version":"7","error":"too large"}`)
		r.feed(observer.Event{Kind: observer.Listed, Version: "9"})
		want(`{"connected":true}`, `{"doing":"watching","until":0,"version":"9","events":1,"bookmarks":1,"error":""}`)

		// The store refuses a list.
		r.feed(observer.Event{Kind: observer.Expired, Err: errors.New("too old")},
			observer.Event{Kind: observer.Listing, Version: "9"},
			observer.Event{Kind: observer.Ended, Err: errors.New("not this list")})
		want(`{"connected":false}`, `{"doing":"listing","version":"9","error":"not this list"}`)
		wantStation(t, r, "store", `{"version":"9"}`)
	})
}

func TestTheStoresState(t *testing.T) {
	r := newRecorder()
	store := func(kind string, before, after any) {
		r.feed(observer.Event{Kind: observer.Stored, Type: kind, Old: before, New: after,
			Version: metadataOf(after).GetResourceVersion(), Key: "ns/" + metadataOf(after).GetName()})
	}
	a1, a2, b := configMap("a", "1", "web"), configMap("a", "3", "db"), configMap("b", "2", "web")
	store("ADDED", nil, a1)
	store("ADDED", nil, b)
	wantStation(t, r, "store",
		`{"objects":2,"version":"2","indexes":{"app":{"web":2}},"values":{"app":1},"keys":["ns/b","ns/a"]}`)
	store("MODIFIED", a1, a2)
	wantStation(t, r, "store",
		`{"objects":2,"version":"3","indexes":{"app":{"db":1,"web":1}},"values":{"app":2},"keys":["ns/a","ns/b"]}`)
	store("DELETED", b, cache.DeletedFinalStateUnknown{Key: "ns/b", Obj: b})
	wantStation(t, r, "store", `{"objects":1,"indexes":{"app":{"db":1}},"values":{"app":1},"keys":["ns/a"]}`)
	keys := []string{}
	for i := range maxShownKeys {
		store("ADDED", nil, configMap(fmt.Sprint("more-", i), "9", "web"))
		keys = slices.Insert(keys, 0, fmt.Sprint("ns/more-", i))
	}
	wantStation(t, r, "store", fmt.Sprintf(`{"objects":%d,"keys":%s}`, maxShownKeys+1, encode(keys)))
}

// The backlog of a handler is what it reported last, and what was appended since.
func TestTheHandlersState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time stands still
		r := newRecorder()
		a := configMap("a", "1", "web")
		appended := observer.Event{
			Kind: observer.Appended, Type: "MODIFIED", Key: "ns/a", Old: configMap("a", "0", ""), New: a,
		}
		called := appended
		called.Kind, called.Took = observer.Called, time.Millisecond
		called.Handler = "slow"
		initial := called
		initial.Type, initial.Initial, initial.Old = "ADDED", true, nil
		lastCall := func(change string) *Call {
			return &Call{Change: change, Key: "ns/a", Time: time.Now().UnixMilli(), TookMs: 1}
		}
		want := func(want handlerView) {
			t.Helper()
			want.Name, want.Speed = "slow", Slow
			var got struct {
				Handler handlerView `json:"handlers/slow"`
			}
			must.NoError(t, json.Unmarshal(r.stations, &got))
			if diff := cmp.Diff(want, got.Handler); diff != "" {
				t.Errorf("station handlers/slow differs (-want +got):\n%s", diff)
			}
		}

		r.RecordSpeed("slow", Slow)
		r.feed(observer.Event{Kind: observer.Stored, Type: "ADDED", Key: "ns/a", New: a},
			observer.Event{Kind: observer.Chunk, Count: 4},
			observer.Event{Kind: observer.Joined, Handler: called.Handler})
		want(handlerView{Waiting: 1}) // the initial add
		r.feed(initial, appended, appended, appended)
		want(handlerView{Calls: 1, Waiting: 3, Last: lastCall("initial")})
		called.Waiting = 2
		r.feed(called, appended)
		want(handlerView{Calls: 2, Waiting: 3, At: 1, Last: lastCall("update")})
		r.feed(observer.Event{Kind: observer.Folded, Handler: called.Handler, Count: 2, Waiting: 1})
		want(handlerView{Calls: 2, Waiting: 1, Folded: 2, At: 3, Last: lastCall("update")})
		wantStation(t, r, "journal", `{"end":4,"chunks":[{"first":0,"size":4,"used":4}]}`)
		r.feed(appended, observer.Event{Kind: observer.Chunk, Count: 8})
		wantStation(t, r, "journal",
			`{"end":5,"chunks":[{"first":0,"size":4,"used":4},{"first":4,"size":8,"used":1}]}`)

		calls, ok := r.Calls(Ours, "slow")
		wantCalls := []Call{*lastCall("update"), *lastCall("initial")}
		if diff := cmp.Diff(wantCalls, calls); !ok || diff != "" {
			t.Errorf("Calls(Ours, slow) = _, %t; calls differ (-want +got):\n%s", ok, diff)
		}
		r.feed(observer.Event{Kind: observer.Removed, Handler: called.Handler}, called)
		if got := string(r.stations); strings.Contains(got, "slow") {
			t.Errorf("stations = %s\nwant no station of the handler slow, which was removed", got)
		}
	})
}

// burst returns many events of both informers, in random order.
func burst(n int) (events []event) {
	random := rand.New(rand.NewPCG(1, 2))
	stored := map[string]*corev1.ConfigMap{}
	for i := range n {
		name := fmt.Sprint("cm-", random.IntN(70))
		now, old := configMap(name, fmt.Sprint(i+1), fmt.Sprint("app-", i%3)), stored[name]
		change := observer.Event{
			Kind: observer.Stored, Type: "ADDED", Key: "ns/" + name, New: now, Version: fmt.Sprint(i),
		}
		stored[name] = now
		if old != nil {
			change.Type, change.Old = "MODIFIED", old
		}
		if old != nil && i%5 == 0 { // it has a caption
			change.Type, change.New = "DELETED", cache.DeletedFinalStateUnknown{Key: change.Key, Obj: old}
			delete(stored, name)
		}
		appended := change
		appended.Kind = observer.Appended
		called := change
		called.Kind, called.Handler, called.Waiting = observer.Called, fmt.Sprint("h-", i%3), random.IntN(10)
		clientGoCalled := called
		clientGoCalled.Handler = "h-0"
		received := observer.Event{Kind: observer.Received, Type: change.Type, Key: change.Key, New: now}
		events = append(events,
			event{Event: change, implementation: Ours},
			event{Event: appended, implementation: Ours},
			event{Event: called, implementation: Ours},
			event{Event: received, implementation: ClientGo},
			event{Event: clientGoCalled, implementation: ClientGo})
		if i%40 == 0 {
			joined := observer.Event{Kind: observer.Joined, Handler: fmt.Sprint("h-", i%3)}
			clientGoJoined := observer.Event{Kind: observer.Joined, Handler: "h-0"}
			events = append(events,
				event{Event: observer.Event{Kind: observer.Chunk, Count: 64}, implementation: Ours},
				event{Event: joined, implementation: Ours},
				event{Event: clientGoJoined, implementation: ClientGo})
		}
	}
	return events
}

// If only a sample of a burst gets records, the state is the same as with all records.
func TestASampleIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time stands still
		events := burst(600)
		sampled, whole := newRecorder(), newRecorder()
		for _, e := range events {
			sampled.add(e)
			whole.add(e)
			whole.tick()
		}
		sampled.tick()
		if diff := cmp.Diff(string(whole.stations), string(sampled.stations)); diff != "" {
			t.Errorf("stations differ (-all records +sample):\n%s", diff)
		}

		records := sampled.records(t)
		if n := len(records); n > maxTickRecords || n < maxTickRecords-maxTickCaptions {
			t.Errorf("%d records, want %d to %d", n, maxTickRecords-maxTickCaptions, maxTickRecords)
		}
		total, captions := 0, 0
		for i, r := range records {
			if want := int64(i + 1); r.Seq != want {
				t.Fatalf("records[%d].Seq = %d, want %d", i, r.Seq, want)
			}
			total += 1 + r.Skipped
			if r.Caption != nil {
				captions++
			}
		}
		if total != len(events) {
			t.Errorf("the records and what they skip are %d events, want %d", total, len(events))
		}
		if captions != maxTickCaptions {
			t.Errorf("%d captions, want %d", captions, maxTickCaptions)
		}
		got, want := records[len(records)-1], events[len(events)-1]
		if got.Kind != string(want.Kind) || got.Chip == nil || got.Chip.Key != want.Key {
			t.Errorf("the last record is %+v with chip %+v, want the last event: %s of %s", got, got.Chip, want.Kind,
				want.Key)
		}
	})
}

// A page gets the records that it does not have, as many as fit into a frame.
func TestWhatAPageGets(t *testing.T) {
	r := newRecorder()
	for range 200 {
		r.RecordAction(strings.Repeat("x", maxFrameBytes/100), "%s", strings.Repeat("x", maxFrameBytes))
		r.tick()
	}
	last := r.history.seq
	for _, test := range []struct {
		after   int64
		records int
	}{
		{after: -1, records: 0},
		{after: last, records: 0},
		{after: last - 2, records: 2},
	} {
		f := r.After(test.after)
		if f.Seq != last || len(f.Records) != test.records || f.Missed != 0 {
			t.Errorf("After(%d) has %d records up to %d, and missed %d; want %d up to %d, and 0",
				test.after, len(f.Records), f.Seq, f.Missed, test.records, last)
		}
	}

	f := r.After(1)
	size := len(f.Stations)
	for _, text := range f.Records {
		size += len(text)
	}
	if size > maxFrameBytes || size < maxFrameBytes*9/10 {
		t.Errorf("After(1) has %d bytes, want %d or little less", size, maxFrameBytes)
	}
	if got, want := int64(len(f.Records))+f.Missed, last-1; got != want {
		t.Errorf("After(1) has %d records and missed %d: %d, want %d", len(f.Records), f.Missed, got, want)
	}
}

func TestWhereChipsTravel(t *testing.T) {
	r, a := newRecorder(), configMap("a", "1", "")
	made := func(kind observer.Kind, handler string, initial bool) observer.Event {
		return observer.Event{Kind: kind, Type: "ADDED", Key: "ns/a", New: a, Handler: handler, Initial: initial}
	}
	r.feed(
		made(observer.Joined, "early", false),
		made(observer.Stored, "", true),
		made(observer.Appended, "", true),
		made(observer.Called, "early", true),
		made(observer.Joined, "late", false),
		made(observer.Called, "late", true),
		made(observer.Called, "late", false),
	)
	for range 2 { // the second is a relist
		for _, kind := range []observer.Kind{observer.Listing, observer.Received, observer.Listed} {
			r.Observer(ClientGo).Observe(made(kind, "", true))
		}
	}
	r.tick()
	var got []string
	for _, record := range r.records(t) {
		if c := record.Chip; c != nil {
			got = append(got, fmt.Sprintf("%s > %s: %s", c.From, c.To, c.Change))
		}
	}
	want := []string{
		"reflector > store: initial",
		"store > journal: initial",
		"journal > handlers/early: initial",
		"store > handlers/late: initial",
		"journal > handlers/late: add",
		"server > client-go/informer: initial",
		"server > client-go/informer: resync",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chips differ (-want +got):\n%s", diff)
	}
}
