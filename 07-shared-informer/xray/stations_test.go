// The state that comes of events, and what the records have of it.

package xray

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/04-indexer/indexer"
)

// scripted is a recorder that nothing feeds but the test.
func scripted(streams bool) *recorder {
	s := &Subject{Name: "configmaps", Kind: "ConfigMap", Indexers: cache.Indexers{"app": indexer.ByLabel("app")}}
	s.namespace = "ns"
	r := newRecorder(s)
	r.stations.streams = streams
	return r
}

func (r *recorder) feed(events ...observer.Event) {
	for _, e := range events {
		r.Observe(e)
	}
	r.frame()
}

func wantStation[T any](t *testing.T, r *recorder, name string, want T) {
	t.Helper()
	if got := station[T](t, r, name); !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, want)
	}
}

func TestTheReflectorsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := func() int64 { return ms(time.Now()) }
		r := scripted(true)
		wantStation(t, r, "reflector", reflectorStation{Doing: "stopped"})

		r.feed(observer.Event{Kind: observer.Listing})
		wantStation(t, r, "reflector", reflectorStation{Doing: "streaming"})
		wantStation(t, r, "server", serverStation{Lists: 1, Watches: 1}) // a streamed list is both
		r.feed(observer.Event{Kind: observer.Ended, Err: errors.New("cannot stream")},
			observer.Event{Kind: observer.Listing, Version: "0"}, observer.Event{Kind: observer.Listing, Version: "0"})
		wantStation(t, r, "reflector", reflectorStation{Doing: "listing", Error: "cannot stream"})
		r.feed(observer.Event{Kind: observer.Listed, Version: "5", Count: 1},
			observer.Event{Kind: observer.Watching, Version: "5"})
		wantStation(t, r, "reflector", reflectorStation{Doing: "watching", Version: "5"})
		wantStation(t, r, "server", serverStation{Connected: true, Lists: 3, Watches: 2})

		time.Sleep(time.Second)
		added := observer.Event{Kind: observer.Received, Type: "ADDED", Key: "ns/a", Version: "6"}
		added.New = configMap("a", "6", "")
		r.feed(added, observer.Event{Kind: observer.Bookmark, Version: "7"})
		wantStation(t, r, "reflector",
			reflectorStation{Doing: "watching", Version: "7", LastEvent: now(), Events: 1, Bookmarks: 1})
		last := now()
		time.Sleep(time.Second)
		r.feed(observer.Event{Kind: observer.Expired, Err: errors.New("too old")},
			observer.Event{Kind: observer.BackingOff, Took: time.Second})
		wantStation(t, r, "reflector", reflectorStation{Doing: "backing off", Until: now() + 1000, Version: "7",
			LastEvent: last, Events: 1, Bookmarks: 1, Error: "too old"})
		r.feed(observer.Event{Kind: observer.Listing, Version: "7"},
			observer.Event{Kind: observer.Listed, Version: "9"})
		wantStation(t, r, "reflector",
			reflectorStation{Doing: "watching", Version: "9", LastEvent: last, Events: 1, Bookmarks: 1})
	})
}

func TestTheStoresState(t *testing.T) {
	r := scripted(false)
	store := func(kind string, before, after *corev1.ConfigMap, initial bool) {
		e := observer.Event{Kind: observer.Stored, Type: kind, New: after, Version: after.ResourceVersion,
			Key: "ns/" + after.Name, Initial: initial}
		if before != nil {
			e.Old = before
		}
		r.feed(e)
	}
	type apps = map[string]map[string]int
	a1, a2, b := configMap("a", "1", "web"), configMap("a", "3", "db"), configMap("b", "2", "web")
	store("ADDED", nil, a1, true)
	store("ADDED", nil, b, false)
	wantStation(t, r, "store",
		storeStation{2, "2", apps{"app": {"web": 2}}, map[string]int{"app": 1}, []string{"ns/b", "ns/a"}})
	store("MODIFIED", a1, a2, false)
	wantStation(t, r, "store",
		storeStation{2, "3", apps{"app": {"web": 1, "db": 1}}, map[string]int{"app": 2}, []string{"ns/a", "ns/b"}})
	r.feed(observer.Event{Kind: observer.Stored, Type: "DELETED", Key: "ns/b", Old: b, Version: "4",
		New: cache.DeletedFinalStateUnknown{Key: "ns/b", Obj: b}})
	wantStation(t, r, "store",
		storeStation{1, "4", apps{"app": {"db": 1}}, map[string]int{"app": 1}, []string{"ns/a"}})
	for i := range shownKeys {
		store("ADDED", nil, configMap(fmt.Sprint("more-", i), "9", "web"), false)
	}
	if got := station[storeStation](t, r, "store"); got.Objects != shownKeys+1 || len(got.Keys) != shownKeys ||
		got.Keys[0] != fmt.Sprint("ns/more-", shownKeys-1) {
		t.Errorf("%d objects, %d keys, the first is %s", got.Objects, len(got.Keys), got.Keys[0])
	}
}

// What waits for a handler is what it said last, and what was appended since.
func TestTheHandlersState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := scripted(false)
		a := configMap("a", "1", "web")
		appended := observer.Event{Kind: observer.Appended, Type: "MODIFIED", Key: "ns/a", New: a}
		appended.Old = configMap("a", "0", "")
		called := appended
		called.Kind, called.Took = observer.Called, time.Millisecond
		called.Handler = "Informer *v1.ConfigMap + event handler slow"
		r.feed(observer.Event{Kind: observer.Stored, Type: "ADDED", Key: "ns/a", New: a},
			observer.Event{Kind: observer.Chunk, Count: 4},
			observer.Event{Kind: observer.Joined, Handler: called.Handler})
		want := func(calls, waiting, folded, at int, last *call) {
			t.Helper()
			wantStation(t, r, "handlers/slow", handlerStation{Name: "slow", Pace: fast, Calls: calls, Waiting: waiting,
				Folded: &folded, At: &at, Last: last})
		}
		want(0, 1, 0, 0, nil) // the snapshot that it joined with
		initial := called
		initial.Type, initial.Initial, initial.Old = "ADDED", true, nil
		r.feed(initial, appended, appended, appended)
		want(1, 3, 0, 0, &call{ms(time.Now()), "ns/a", "initial", 1})
		called.Waiting = 2
		r.feed(called, appended)
		want(2, 3, 0, 1, &call{ms(time.Now()), "ns/a", "update", 1})
		r.feed(observer.Event{Kind: observer.Folded, Handler: called.Handler, Count: 2, Waiting: 1})
		want(2, 1, 2, 3, &call{ms(time.Now()), "ns/a", "update", 1})
		wantStation(t, r, "log", logStation{End: 4, Start: 3, Chunks: []chunk{{0, 4, 4}}})
		r.feed(appended, observer.Event{Kind: observer.Chunk, Count: 8})
		wantStation(t, r, "log", logStation{End: 5, Start: 3, Chunks: []chunk{{0, 4, 4}, {4, 8, 1}}})

		if calls, _ := r.calls(ours, "slow"); len(calls) != 2 || calls[0].Change != "update" {
			t.Errorf("calls: %+v", calls)
		}
		r.feed(observer.Event{Kind: observer.Removed, Handler: called.Handler}, called)
		if _, there := r.state().Set["handlers/slow"]; there {
			t.Error("a removed handler is there")
		}
		records := recordsOf(t, r)
		if got := string(records[len(records)-2].Set["handlers/slow"]); got != "null" {
			t.Errorf("its record has %s, want null", got)
		}
	})
}

// script is a burst of events in both lanes.
func script(n int) (events []input) {
	random := rand.New(rand.NewPCG(1, 2))
	stored := map[string]*corev1.ConfigMap{}
	for i := range n {
		name := fmt.Sprint("cm-", random.IntN(70))
		now, old := configMap(name, fmt.Sprint(i+1), fmt.Sprint("app-", i%3)), stored[name]
		e := observer.Event{Kind: observer.Stored, Type: "ADDED", Key: "ns/" + name, New: now, Version: fmt.Sprint(i)}
		if old != nil {
			e.Type, e.Old = "MODIFIED", old
		}
		if stored[name] = now; old != nil && i%5 == 0 {
			e.Type, e.New = "DELETED", cache.DeletedFinalStateUnknown{Key: e.Key, Obj: old} // with a caption
			delete(stored, name)
		}
		appended, called := e, e
		appended.Kind, called.Kind = observer.Appended, observer.Called
		called.Handler, called.Waiting = fmt.Sprint("h-", i%3), random.IntN(10)
		theirs := called
		theirs.Handler = "h-0"
		received := observer.Event{Kind: observer.Received, Type: e.Type, Key: e.Key, New: now}
		events = append(events, input{Event: e, lane: ours}, input{Event: appended, lane: ours},
			input{Event: called, lane: ours}, input{Event: received, lane: clientGo},
			input{Event: theirs, lane: clientGo})
		if i%40 == 0 {
			events = append(events, input{Event: observer.Event{Kind: observer.Chunk, Count: 64}, lane: ours},
				input{Event: observer.Event{Kind: observer.Joined, Handler: fmt.Sprint("h-", i%3)}, lane: ours},
				input{Event: observer.Event{Kind: observer.Joined, Handler: "h-0"}, lane: clientGo})
		}
	}
	return events
}

// A sample of a burst leads to the same state as all of it, and so do its records.
func TestASampleIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time stands still
		events := script(600)
		sampled, whole := scripted(false), scripted(false)
		base := maps.Clone(sampled.published)
		for _, in := range events {
			sampled.add(in)
			whole.add(in)
			whole.frame()
		}
		sampled.frame()
		if !reflect.DeepEqual(sampled.published, whole.published) {
			t.Errorf("the state differs:\nsampled %s\nwhole   %s", asText(sampled.published), asText(whole.published))
		}
		records, shown := recordsOf(t, sampled), 0
		for i, r := range records {
			if r.Seq != int64(i+1) {
				t.Fatalf("record %d has number %d", i+1, r.Seq)
			}
			shown += 1 + r.Skipped
			for name, station := range r.Set {
				if base[name] = station; string(station) == "null" {
					delete(base, name)
				}
			}
		}
		if !reflect.DeepEqual(base, sampled.published) {
			t.Errorf("the records merged: %s\nthe state: %s", asText(base), asText(sampled.published))
		}
		last := events[len(events)-1]
		if got := records[len(records)-1]; got.Kind != string(last.Kind) || got.Chip.Key != last.Key {
			t.Errorf("the last record is %+v, want the last event", got)
		}
		if len(records) > frameRecords || len(records) < frameRecords-frameCaptions || shown != len(events) {
			t.Errorf("%d records, with the skipped %d events of %d", len(records), shown, len(events))
		}
		if n := len(captions(t, sampled)); n != frameCaptions {
			t.Errorf("%d captions, want %d", n, frameCaptions)
		}
	})
}

func asText(set map[string]json.RawMessage) (text string) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		text += name + " " + string(set[name]) + "\n"
	}
	return text
}

func TestWhereChipsTravel(t *testing.T) {
	r, a := scripted(false), configMap("a", "1", "")
	event := func(kind observer.Kind, handler string, initial bool) observer.Event {
		return observer.Event{Kind: kind, Type: "ADDED", Key: "ns/a", New: a, Handler: handler, Initial: initial}
	}
	r.feed(event(observer.Joined, "early", false),
		event(observer.Stored, "", true), event(observer.Appended, "", true), event(observer.Called, "early", true),
		event(observer.Joined, "late", false), event(observer.Called, "late", true),
		event(observer.Called, "late", false))
	for range 2 { // the second is a relist
		for _, kind := range []observer.Kind{observer.Listing, observer.Received, observer.Listed} {
			r.add(input{Event: event(kind, "", true), lane: clientGo})
		}
	}
	r.frame()
	var got []string
	for _, record := range recordsOf(t, r) {
		if c := record.Chip; c != nil {
			got = append(got, fmt.Sprintf("%s > %s: %s", c.From, c.To, c.Change))
		}
	}
	if want := []string{
		"reflector > store: initial", "store > log: initial", "log > handlers/early: initial",
		"store > handlers/late: initial", "log > handlers/late: add",
		"server > client-go/informer: initial", "server > client-go/informer: resync",
	}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
