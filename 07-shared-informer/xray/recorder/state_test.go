// The state that comes of events, and what the records have of it.

package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// configMap is an object of the namespace that is shown.
func configMap(name, version, app string) *corev1.ConfigMap {
	cm := fakeapi.ConfigMap(name, version)
	cm.UID, cm.Labels = types.UID("uid-"+name), map[string]string{"app": app}
	return cm
}

// scripted is a recorder that nothing feeds but the test.
func scripted() *Recorder {
	return New(Options{Name: "configmaps", Kind: "ConfigMap", Namespace: "ns",
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")}, Status: func() Status { return Status{} }})
}

func (r *Recorder) feed(events ...observer.Event) {
	for _, e := range events {
		r.Lane(Ours).Observe(e)
	}
	r.tick()
}

// A record is what a page gets.
type record struct {
	Seq           int64
	Kind          string
	Skipped       int
	Chip, Caption map[string]any
}

// records are all that are kept.
func (r *Recorder) records(t *testing.T) (all []record) {
	t.Helper()
	for _, kept := range r.history.kept {
		var decoded record
		must.Do(t, json.Unmarshal(kept.text, &decoded))
		all = append(all, decoded)
	}
	return all
}

// wantStation compares a station with what is wanted of it, in JSON.
func wantStation(t *testing.T, r *Recorder, name, want string) {
	t.Helper()
	var set map[string]map[string]any
	must.Do(t, json.Unmarshal(r.set, &set))
	var wanted map[string]any
	must.Do(t, json.Unmarshal([]byte(want), &wanted))
	for field, value := range wanted {
		got := set[name][field]
		expect.That(t, reflect.DeepEqual(got, value), "%s: %s is %v, want %v", name, field, got, value)
	}
}

func TestTheReflectorsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := scripted()
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

		// A version that the server does not have yet: the stream is asked for again, without it.
		r.feed(observer.Event{Kind: observer.Listing, Version: "7", Stream: true},
			observer.Event{Kind: observer.Ended, Err: errors.New("too large")},
			observer.Event{Kind: observer.Listing, Stream: true})
		want(`{"connected":false,"lists":5,"watches":4}`, `{"doing":"streaming","version":"7","error":"too large"}`)
		r.feed(observer.Event{Kind: observer.Listed, Version: "9"})
		want(`{"connected":true}`, `{"doing":"watching","until":0,"version":"9","events":1,"bookmarks":1,"error":""}`)

		// A list that the store refuses.
		r.feed(observer.Event{Kind: observer.Expired, Err: errors.New("too old")},
			observer.Event{Kind: observer.Listing, Version: "9"},
			observer.Event{Kind: observer.Ended, Err: errors.New("not this list")})
		want(`{"connected":false}`, `{"doing":"listing","version":"9","error":"not this list"}`)
		wantStation(t, r, "store", `{"version":"9"}`)
	})
}

func TestTheStoresState(t *testing.T) {
	r := scripted()
	store := func(kind string, before, after any) {
		r.feed(observer.Event{Kind: observer.Stored, Type: kind, Old: before, New: after,
			Version: about(after).GetResourceVersion(), Key: "ns/" + about(after).GetName()})
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
	for i := range shownKeys {
		store("ADDED", nil, configMap(fmt.Sprint("more-", i), "9", "web"))
		keys = slices.Insert(keys, 0, fmt.Sprint("ns/more-", i))
	}
	wantStation(t, r, "store", fmt.Sprintf(`{"objects":%d,"keys":%s}`, shownKeys+1, encode(keys)))
}

// What waits for a handler is what it reported last, and what was appended since.
func TestTheHandlersState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := scripted()
		a := configMap("a", "1", "web")
		appended := observer.Event{Kind: observer.Appended, Type: "MODIFIED", Key: "ns/a", New: a}
		appended.Old = configMap("a", "0", "")
		called := appended
		called.Kind, called.Took = observer.Called, time.Millisecond
		called.Handler = "Informer *v1.ConfigMap + event handler slow"
		r.RecordPace("slow", Slow)
		r.feed(observer.Event{Kind: observer.Stored, Type: "ADDED", Key: "ns/a", New: a},
			observer.Event{Kind: observer.Chunk, Count: 4},
			observer.Event{Kind: observer.Joined, Handler: called.Handler})
		want := func(calls, waiting, folded, at int, last string) {
			t.Helper()
			if last != "null" {
				last = fmt.Sprintf(`{"time":%d,"key":"ns/a","change":%q,"tookMs":1}`, time.Now().UnixMilli(), last)
			}
			wantStation(t, r, "handlers/slow", fmt.Sprintf(`{"name":"slow","pace":"slow","calls":%d,"waiting":%d,
				"folded":%d,"at":%d,"last":%s}`, calls, waiting, folded, at, last))
		}
		want(0, 1, 0, 0, "null") // the snapshot that it joined with
		initial := called
		initial.Type, initial.Initial, initial.Old = "ADDED", true, nil
		r.feed(initial, appended, appended, appended)
		want(1, 3, 0, 0, "initial")
		called.Waiting = 2
		r.feed(called, appended)
		want(2, 3, 0, 1, "update")
		r.feed(observer.Event{Kind: observer.Folded, Handler: called.Handler, Count: 2, Waiting: 1})
		want(2, 1, 2, 3, "update")
		wantStation(t, r, "log", `{"end":4,"chunks":[{"first":0,"size":4,"used":4}]}`)
		r.feed(appended, observer.Event{Kind: observer.Chunk, Count: 8})
		wantStation(t, r, "log",
			`{"end":5,"chunks":[{"first":0,"size":4,"used":4},{"first":4,"size":8,"used":1}]}`)

		calls, _ := r.Calls(Ours, "slow")
		expect.That(t, len(calls) == 2 && calls[0]["change"] == "update", "calls: %+v", calls)
		r.feed(observer.Event{Kind: observer.Removed, Handler: called.Handler}, called)
		expect.That(t, !strings.Contains(string(r.set), "slow"), "a removed handler is there: %s", r.set)
	})
}

// A page gets the records that it has not got, as many as one message may have.
func TestWhatAPageGets(t *testing.T) {
	r := scripted()
	for range 200 {
		r.RecordAction(strings.Repeat("x", maxFrame/100), "%s", strings.Repeat("x", maxFrame))
		r.tick()
	}
	for seq, want := range map[int64]string{-1: "0 0", r.history.seq: "0 0", r.history.seq - 2: "2 0"} {
		if f := r.After(seq); fmt.Sprint(len(f.Records), f.Missed) != want || f.Seq != r.history.seq {
			t.Errorf("after %d: %d records up to %d, %d missed; want %s", seq, len(f.Records), f.Seq, f.Missed, want)
		}
	}
	f, size := r.After(1), 0
	for _, text := range f.Records {
		size += len(text)
	}
	if size += len(f.Set); size > maxFrame || size < maxFrame*9/10 || int64(len(f.Records))+f.Missed != f.Seq-1 {
		t.Errorf("%d bytes, want at most %d; %d records, %d missed", size, maxFrame, len(f.Records), f.Missed)
	}
}

func TestWhereChipsTravel(t *testing.T) {
	r, a := scripted(), configMap("a", "1", "")
	made := func(kind observer.Kind, handler string, initial bool) observer.Event {
		return observer.Event{Kind: kind, Type: "ADDED", Key: "ns/a", New: a, Handler: handler, Initial: initial}
	}
	r.feed(made(observer.Joined, "early", false),
		made(observer.Stored, "", true), made(observer.Appended, "", true), made(observer.Called, "early", true),
		made(observer.Joined, "late", false), made(observer.Called, "late", true),
		made(observer.Called, "late", false))
	for range 2 { // the second is a relist
		for _, kind := range []observer.Kind{observer.Listing, observer.Received, observer.Listed} {
			r.add(event{Event: made(kind, "", true), lane: Theirs})
		}
	}
	r.tick()
	var got []string
	for _, record := range r.records(t) {
		if c := record.Chip; c != nil {
			got = append(got, fmt.Sprintf("%s > %s: %s", c["from"], c["to"], c["change"]))
		}
	}
	want := []string{
		"reflector > store: initial", "store > log: initial", "log > handlers/early: initial",
		"store > handlers/late: initial", "log > handlers/late: add",
		"server > client-go/informer: initial", "server > client-go/informer: resync",
	}
	expect.That(t, slices.Equal(got, want), "got  %q\nwant %q", got, want)
}
