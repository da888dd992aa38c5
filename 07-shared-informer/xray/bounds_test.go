// What the program keeps and sends stays small, however much there is.

package xray

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/07-shared-informer/xray/recorder"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

const (
	mostMessage = 1 << 20  // bytes
	mostHistory = 64 << 20 // bytes
	updates     = 700
)

// underLoad runs an informer on objects, and makes updates while a slow page gets
// events. No message may be too large, nor the history.
func underLoad(t *testing.T, update func(i int) *corev1.ConfigMap, then func(rig), objs ...runtime.Object) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		source := fakeapi.New(objs...)
		r := rigOf(t, subjectOf(source))
		watches := []*watch.FakeWatcher{source.NextWatch(), source.NextWatch()}    // of both lanes
		r.must(order{Action: "pace", Handler: recorder.Slow, Pace: recorder.Fast}) // or much waits for it
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

// catchUp reads the messages that wait for a page.
func catchUp(t *testing.T, r rig, page *eventReader) {
	t.Helper()
	for seen := (message{}); seen.Seq < r.recorder.After(-1).Seq; {
		data := page.next()
		must.Do(t, json.Unmarshal([]byte(data), &seen))
		expect.That(t, len(data) <= mostMessage, "a message of %d bytes, want at most %d", len(data), mostMessage)
	}
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
			expect.That(t, status == 200 && len(body) <= mostMessage && strings.Contains(body, want),
				"%d, %d bytes of at most %d: want %s in\n%.999s", status, len(body), mostMessage, want, body)
		}
	}, large(1))
}
