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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/journal"
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
		r.feed(observer.Listing{Stream: true})
		want(`{"connected":false,"lists":1,"watches":1}`, `{"doing":"streaming"}`) // a streamed list is both
		r.feed(observer.Ended{Err: errors.New("cannot stream")},
			observer.Listing{Version: "0"}, observer.Listing{Version: "0"})
		want(`{"connected":false}`, `{"doing":"listing","error":"cannot stream"}`)
		r.feed(observer.Listed{Version: "5", Objects: 1},
			observer.Watching{Version: "5"})
		want(`{"connected":true,"lists":3,"watches":2}`, `{"doing":"watching","version":"5","error":"","events":0}`)

		time.Sleep(time.Second)
		last := time.Now().UnixMilli()
		added := observer.Received{Type: watch.Added, Key: "ns/a", Object: configMap("a", "6", ""), Version: "6"}
		r.feed(added, observer.Bookmark{Version: "7"})
		want(`{}`, `{"doing":"watching","version":"7","lastEvent":%d,"events":1,"bookmarks":1}`, last)
		time.Sleep(time.Second)
		r.feed(observer.Expired{Err: errors.New("too old")},
			observer.BackingOff{Pause: time.Second})
		want(`{"connected":false}`, `{"doing":"backing off","until":%d,"version":"7","lastEvent":%d,"error":"too old"}`,
			last+2000, last)

		// The server does not have the version yet: the reflector asks for the stream again,
		// without a version.
		r.feed(observer.Listing{Version: "7", Stream: true},
			observer.Ended{Err: errors.New("too large")},
			observer.Listing{Stream: true})
		want(`{"connected":false,"lists":5,"watches":4}`, `{"doing":"streaming","version":"7","error":"too large"}`)
		r.feed(observer.Listed{Version: "9"})
		want(`{"connected":true}`, `{"doing":"watching","until":0,"version":"9","events":1,"bookmarks":1,"error":""}`)

		// The store refuses a list.
		r.feed(observer.Expired{Err: errors.New("too old")},
			observer.Listing{Version: "9"},
			observer.Ended{Err: errors.New("not this list")})
		want(`{"connected":false}`, `{"doing":"listing","version":"9","error":"not this list"}`)
		wantStation(t, r, "store", `{"version":"9"}`)
	})
}

func TestTheStoresState(t *testing.T) {
	r := newRecorder()
	store := func(kind processor.Kind, before, after any) { r.feed(stored(kind, before, after)) }
	a1, a2, b := configMap("a", "1", "web"), configMap("a", "3", "db"), configMap("b", "2", "web")
	store(processor.Added, nil, a1)
	store(processor.Added, nil, b)
	wantStation(t, r, "store",
		`{"objects":2,"version":"2","indexes":{"app":{"web":2}},"values":{"app":1},"keys":["ns/b","ns/a"]}`)
	store(processor.Updated, a1, a2)
	wantStation(t, r, "store",
		`{"objects":2,"version":"3","indexes":{"app":{"db":1,"web":1}},"values":{"app":2},"keys":["ns/a","ns/b"]}`)
	store(processor.Deleted, b, cache.DeletedFinalStateUnknown{Key: "ns/b", Obj: b})
	wantStation(t, r, "store", `{"objects":1,"indexes":{"app":{"db":1}},"values":{"app":1},"keys":["ns/a"]}`)
	keys := []string{}
	for i := range maxShownKeys {
		store(processor.Added, nil, configMap(fmt.Sprint("more-", i), "9", "web"))
		keys = slices.Insert(keys, 0, fmt.Sprint("ns/more-", i))
	}
	wantStation(t, r, "store", fmt.Sprintf(`{"objects":%d,"keys":%s}`, maxShownKeys+1, encode(keys)))
}

// The backlog of a handler is what it reported last, and what was appended since.
func TestTheHandlersState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time stands still
		r := newRecorder()
		a := configMap("a", "1", "web")
		appended := processor.Appended{Notification: processor.Notification{
			Kind: processor.Updated, Key: "ns/a", Old: configMap("a", "0", ""), New: a,
		}}
		called := HandlerCalled{Name: "slow", Change: appended.Notification, Took: time.Millisecond}
		initial := called
		initial.Change = processor.Notification{Kind: processor.Added, Initial: true, Key: "ns/a", New: a}
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
		r.feed(stored(processor.Added, nil, a), journal.ChunkStarted{Size: 4}, HandlerJoined{"slow"})
		want(handlerView{Waiting: 1}) // the initial add
		r.feed(initial, appended, appended, appended)
		want(handlerView{Calls: 1, Waiting: 3, Last: lastCall("initial")})
		called.Waiting = 2
		r.feed(called, appended)
		want(handlerView{Calls: 2, Waiting: 3, At: 1, Last: lastCall("update")})
		r.feed(handlerFolded{"slow", 2, 1})
		want(handlerView{Calls: 2, Waiting: 1, Folded: 2, At: 3, Last: lastCall("update")})
		wantStation(t, r, "journal", `{"end":4,"chunks":[{"first":0,"size":4,"used":4}]}`)
		r.feed(appended, journal.ChunkStarted{Size: 8})
		wantStation(t, r, "journal",
			`{"end":5,"chunks":[{"first":0,"size":4,"used":4},{"first":4,"size":8,"used":1}]}`)

		calls, ok := r.Calls(Ours, "slow")
		wantCalls := []Call{*lastCall("update"), *lastCall("initial")}
		if diff := cmp.Diff(wantCalls, calls); !ok || diff != "" {
			t.Errorf("Calls(Ours, slow) = _, %t; calls differ (-want +got):\n%s", ok, diff)
		}
		r.feed(HandlerRemoved{"slow"}, called)
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
		change := processor.Notification{Kind: processor.Added, Key: "ns/" + name, New: now}
		stored[name] = now
		if old != nil {
			change.Kind, change.Old = processor.Updated, old
		}
		if old != nil && i%5 == 0 { // it has a caption
			change.Kind, change.New = processor.Deleted, cache.DeletedFinalStateUnknown{Key: change.Key, Obj: old}
			delete(stored, name)
		}
		events = append(events,
			newEvent(Ours, informer.Stored{Notification: change, Version: fmt.Sprint(i)}),
			newEvent(Ours, processor.Appended{Notification: change}),
			newEvent(Ours, HandlerCalled{Name: fmt.Sprint("h-", i%3), Change: change, Waiting: random.IntN(10)}),
			newEvent(ClientGo, observer.Received{Type: watch.Modified, Key: change.Key, Object: now}),
			newEvent(ClientGo, HandlerCalled{Name: "h-0", Change: change}))
		if i%40 == 0 {
			events = append(events,
				newEvent(Ours, journal.ChunkStarted{Size: 64}),
				newEvent(Ours, HandlerJoined{fmt.Sprint("h-", i%3)}),
				newEvent(ClientGo, HandlerJoined{"h-0"}))
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
			sampled.inbox.add(e)
			whole.inbox.add(e)
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
		if got.Kind != want.word() || got.Chip == nil || got.Chip.Key != want.change.Key {
			t.Errorf("the last record is %+v with chip %+v, want the last event: %s of %s", got, got.Chip, want.word(),
				want.change.Key)
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
	added := processor.Notification{Kind: processor.Added, Key: "ns/a", New: a}
	initial := added
	initial.Initial = true
	r.feed(
		HandlerJoined{"early"},
		informer.Stored{Notification: initial},
		processor.Appended{Notification: initial},
		HandlerCalled{Name: "early", Change: initial},
		HandlerJoined{"late"},
		HandlerCalled{Name: "late", Change: initial},
		HandlerCalled{Name: "late", Change: added},
	)
	for range 2 { // the second is a relist
		for _, what := range []any{observer.Listing{}, ListReceived{Key: "ns/a", Object: a}, observer.Listed{}} {
			r.Observer(ClientGo).Observe(what)
		}
	}
	r.tick()
	r.wantChips(t,
		"reflector > store: initial",
		"store > journal: initial",
		"journal > handlers/early: initial",
		"store > handlers/late: initial",
		"journal > handlers/late: add",
		"server > client-go/informer: initial",
		"server > client-go/informer: resync",
	)
}
