// The limits of what the program keeps and sends, however much happens.

package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/docs/xray/recorder"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

const (
	maxMessageBytes = 1 << 20
	maxHistoryBytes = 64 << 20
	loadUpdates     = 700
)

// underLoad runs an informer on objects, and makes updates while a slow page gets events. It checks
// the size of the messages and of the history. Then it calls check.
func underLoad(t *testing.T, update func(i int) *corev1.ConfigMap, check func(fixture), objs ...runtime.Object) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		source := fakeapi.New(objs...)
		f := newFixture(t, newOptionsFrom(t, source))
		watches := []*watch.FakeWatcher{source.NextWatch(), source.NextWatch()} // of both informers
		f.mustDo(actionRequest{Action: "speed", Handler: "slow", Speed: recorder.Fast})
		page := f.serve()()
		before := usage.Heap()
		for i := range loadUpdates {
			for _, w := range watches {
				w.Modify(update(i))
			}
			if i%10 == 9 {
				f.settle()
			}
			if i%350 == 349 { // there are more records than a message may have
				catchUp(t, f, page)
			}
		}
		if held := usage.Heap() - before; held > maxHistoryBytes {
			t.Errorf("the history takes %d bytes of memory, want at most %d", held, maxHistoryBytes)
		}
		check(f)
		f.stop()
	})
}

// catchUp reads the messages that wait for a page.
func catchUp(t *testing.T, f fixture, page *eventReader) {
	t.Helper()
	for seen := (message{}); seen.Seq < f.recorder.After(-1).Seq; {
		data := page.next()
		must.NoError(t, json.Unmarshal([]byte(data), &seen))
		if len(data) > maxMessageBytes {
			t.Errorf("a message has %d bytes, want at most %d", len(data), maxMessageBytes)
		}
	}
}

func TestTenThousandValuesOfAnIndex(t *testing.T) {
	const values = 10_000
	object := func(i, version int) *corev1.ConfigMap {
		return configMap(fmt.Sprint("cm-", i), fmt.Sprint(version), fmt.Sprint("value-", i))
	}
	var objs []runtime.Object
	for i := range values {
		objs = append(objs, object(i, 1))
	}
	underLoad(t, func(i int) *corev1.ConfigMap { return object(i, 2) }, func(f fixture) {
		store := f.station("store")
		if got := store.Values["app"]; got != values {
			t.Errorf("the index has %d values, want %d", got, values)
		}
		shown := store.Indexes["app"]
		if len(shown) != 6 {
			t.Errorf("the page shows %d values, want 6: %v", len(shown), shown)
		}
		if last := fmt.Sprint("value-", loadUpdates-1); shown[last] != 1 {
			t.Errorf("the page shows %v, want %s with 1 object, which changed last", shown, last)
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
	underLoad(t, func(i int) *corev1.ConfigMap { return large(i + 2) }, func(f fixture) {
		status, body := f.get(f.lastStored())
		if status != 200 || len(body) > maxMessageBytes {
			t.Errorf("the object: status %d, %d bytes; want 200, at most %d bytes", status, len(body),
				maxMessageBytes)
		}
		for _, want := range []string{`"resourceVersion":"`, "xxx … left out: 9,003 more bytes", "more fields"} {
			if !strings.Contains(body, want) {
				t.Errorf("the object: got %.999s …, want %s in it", body, want)
			}
		}
	}, large(1))
}
