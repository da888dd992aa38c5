// What the program keeps and sends stays small, however much there is.

package xray

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

const (
	mostMessage = 1 << 20  // bytes
	mostHistory = 64 << 20 // bytes
	updates     = 700
	seqField    = `"seq":`
)

// underLoad runs an informer on objects, and makes updates while a slow page gets
// events. No message may be too large, nor the history.
func underLoad(t *testing.T, update func(i int) *corev1.ConfigMap, then func(rig), objs ...runtime.Object) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		source := fakeapi.New(objs...)
		r := rigOf(t, subjectOf(source))
		watches := []*watch.FakeWatcher{source.NextWatch(), source.NextWatch()} // of both lanes
		r.must(order{Action: "pace", Handler: slow, Pace: fast})                // or much waits for it
		page := r.serve()()
		before := usage.Heap()
		for i := range updates {
			for _, w := range watches {
				w.Modify(update(i))
			}
			if i%10 == 9 {
				r.settle()
			}
			if i%350 == 349 { // its records are more than one message may have
				catchUp(t, r, page)
			}
		}
		if held := usage.Heap() - before; held > mostHistory {
			t.Errorf("the history holds %d bytes, want at most %d", held, mostHistory)
		}
		then(r)
		r.stop()
	})
}

// catchUp reads the events that wait for a page.
func catchUp(t *testing.T, r rig, page *eventReader) {
	t.Helper()
	for seq, last := int64(0), r.recorder.state().Seq; seq < last; {
		name, data := page.next()
		if name == "" {
			t.Fatal("the events have ended")
		}
		if len(data) > mostMessage {
			t.Errorf("a message of %d bytes, want at most %d", len(data), mostMessage)
		}
		if i := strings.LastIndex(data, seqField); i >= 0 {
			_, err := fmt.Sscan(data[i+len(seqField):], &seq)
			must.Do(t, err)
		}
	}
}

func TestTenThousandValuesOfAnIndex(t *testing.T) {
	const values = 10_000
	version := func(i, n int) *corev1.ConfigMap {
		return configMap(fmt.Sprint("cm-", i), fmt.Sprint(n), fmt.Sprint("value-", i))
	}
	var objs []runtime.Object
	for i := range values {
		objs = append(objs, version(i, 1))
	}
	underLoad(t, func(i int) *corev1.ConfigMap { return version(i, 2) }, func(r rig) {
		store := station[storeStation](t, r.recorder, "store")
		shown := store.Indexes["app"]
		if len(shown) != shownValues || shown[fmt.Sprint("value-", updates-1)] != 1 || store.Values["app"] != values {
			t.Errorf("%d values, of which these changed last: %v", store.Values["app"], shown)
		}
	}, objs...)
}

func TestUpdatesOfALargeObject(t *testing.T) {
	large := func(version int) *corev1.ConfigMap {
		cm := configMap("large", fmt.Sprint(version), "web")
		cm.Data = map[string]string{}
		for i := range 100 {
			cm.Data[fmt.Sprint("key-", i)] = fmt.Sprint(version) + strings.Repeat("x", 10_000)
		}
		return cm
	}
	underLoad(t, func(i int) *corev1.ConfigMap { return large(i + 2) }, func(r rig) {
		status, body := r.get(r.lastStored())
		for _, want := range []string{`"resourceVersion":"`, "xxx … left out: 9,003 more bytes", "more fields"} {
			if status != 200 || len(body) > mostMessage || !strings.Contains(body, want) {
				t.Errorf("%d, %d bytes of at most %d: want %s in\n%.999s", status, len(body), mostMessage, want, body)
			}
		}
	}, large(1))
}

// The history has so many records, or so many bytes.
func TestOnlyTheLastRecordsAreKept(t *testing.T) {
	for text, full := range map[string]int{"": keptRecords, strings.Repeat("x", shownText): keptBytes / shownObject} {
		r := scripted(false)
		for i := range full + 10 {
			cm := configMap("a", fmt.Sprint(i+1), "")
			cm.Data = map[string]string{}
			for key := range shownObject / shownText {
				cm.Data[fmt.Sprint(key)] = text
			}
			r.feed(observer.Event{Kind: observer.Received, Key: "ns/a", New: cm})
		}
		bytes := 0
		for _, kept := range r.kept {
			bytes += kept.size()
		}
		if n := len(r.kept); n > full || n < full*9/10 || bytes > keptBytes || bytes != r.bytes {
			t.Errorf("%d records with %d bytes, counted as %d; want about %d", n, bytes, r.bytes, full)
		}
		first := r.seq - int64(len(r.kept)) + 1
		for seq, want := range map[int64]bool{first - 1: false, first: true, r.seq: true, r.seq + 1: false} {
			version := fmt.Sprintf(`"resourceVersion":"%d"`, seq)
			if got, ok := r.object(seq); ok != want || ok && !strings.Contains(string(got.after), version) {
				t.Errorf("record %d: %t %.200s", seq, ok, got.after)
			}
		}
	}
}

// Whatever is large about a value, what is shown of it is not.
func TestWhatIsLeftOut(t *testing.T) {
	many, deep := map[string]any{}, any("deep")
	for i := range 100_000 {
		many[fmt.Sprintf("field-%06d", i)] = int64(i)
		deep = []any{deep}
	}
	for _, test := range []struct {
		value any
		want  string
	}{
		{strings.Repeat("x", 1_000_000), `"xxx`},
		{strings.Repeat("x", 1_000_000), `xxx … left out: 999,000 more bytes"`},
		{strings.Repeat("€", 1_000), `€€ … left out: 2,001 more bytes"`}, // no half of a sign
		{many, `{"(left out)":"`},
		{slices.Collect(maps.Values(many)), `"… left out: 98,001 more values"]`},
		{deep, `[["… left out: 1 more value"]]`},
		{map[string]any{strings.Repeat("x", 1_000_000): nil}, "more bytes"},
		{map[string]any{"a": []any{"b", 1, true, nil}}, `{"a":["b",1,true,null]}`},
	} {
		room := shownObject
		text, err := json.Marshal(shorten(test.value, &room))
		must.Do(t, err)
		if len(text) > 2*shownObject || !strings.Contains(string(text), test.want) {
			t.Errorf("%d bytes: %.50s … %.50s\nwant %s", len(text), text, text[max(0, len(text)-50):], test.want)
		}
	}
}
