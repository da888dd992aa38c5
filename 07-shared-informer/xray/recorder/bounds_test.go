// What is kept stays small, however much there is.

package recorder

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/must"
)

// The history has so many records, or so many bytes.
func TestOnlyTheLastRecordsAreKept(t *testing.T) {
	for text, full := range map[string]int{"": KeptRecords, strings.Repeat("x", shownText): KeptBytes / shownObject} {
		r := scripted()
		for i := range full + 10 {
			cm := configMap("a", fmt.Sprint(i+1), "")
			cm.Data = map[string]string{}
			for key := range shownObject / shownText {
				cm.Data[fmt.Sprint(key)] = text
			}
			r.feed(observer.Event{Kind: observer.Received, Key: "ns/a", New: cm})
		}
		bytes := 0
		for _, kept := range r.history.kept {
			bytes += kept.size()
		}
		if n := len(r.history.kept); n > full || n < full*9/10 || bytes > KeptBytes || bytes != r.history.bytes {
			t.Errorf("%d records with %d bytes, counted as %d; want about %d", n, bytes, r.history.bytes, full)
		}
		last := r.history.seq
		first := last - int64(len(r.history.kept)) + 1
		for seq, want := range map[int64]bool{first - 1: false, first: true, last: true, last + 1: false} {
			version := fmt.Sprintf(`"resourceVersion":"%d"`, seq)
			if got, ok := r.history.at(seq); ok != want || ok && !strings.Contains(string(got.After), version) {
				t.Errorf("record %d: %t %.200s", seq, ok, got.After)
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
		text := encode(shorten(test.value, &room))
		if len(text) > 2*shownObject || !strings.Contains(string(text), test.want) {
			t.Errorf("%d bytes: %.50s … %.50s\nwant %s", len(text), text, text[max(0, len(text)-50):], test.want)
		}
	}
}

// What may not be shown is not kept.
func TestAnObjectOfAnotherNamespaceAndASecret(t *testing.T) {
	a, other := configMap("a", "1", ""), configMap("a", "1", "")
	other.Namespace = "other"
	for _, test := range []struct {
		kind string
		obj  any
		want bool
	}{{"ConfigMap", a, true}, {"ConfigMap", other, false}, {"Secret", a, false}} {
		r := scripted()
		r.Kind = test.kind
		r.feed(observer.Event{Kind: observer.Stored, Type: "ADDED", Key: "a", New: test.obj})
		if got, ok := r.Object(1); !ok || got.Shown() != test.want {
			t.Errorf("%s of namespace %s: %s", test.kind, about(test.obj).GetNamespace(), got.After)
		}
	}
}

// Nobody takes events out of the inbox any more.
func TestARecorderThatHasEndedKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := scripted()
		r.Lane(Ours).Observe(observer.Event{Kind: observer.Bookmark, Version: "1"}) // before Run: it counts
		stop := must.Run(t, r.Run)
		synctest.Wait()
		if got := r.After(0).Seq; got != 1 {
			t.Errorf("%d records of what happened before Run, want 1", got)
		}
		r.Lane(Ours).Observe(observer.Event{Kind: observer.Bookmark, Version: "2"})
		stop()
		for range 1000 {
			r.Lane(Ours).Observe(observer.Event{Kind: observer.Bookmark, Version: "3"})
		}
		if got := len(r.inbox.events); got != 0 {
			t.Errorf("%d events are kept after the end, want 0", got)
		}
	})
}

// A transform can put anything into an unstructured object. A server sends no int, only
// int64. DeepCopy panics for all that is not of JSON.
func TestWhatAnUnstructuredObjectMayHold(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "ns", "name": "a", "managedFields": []any{"many"}},
		"replicas": 3, "labels": map[string]string{"app": "web"}, "ratio": math.NaN(), "done": make(chan int),
		"large": []string{strings.Repeat("x", 1_000_000)},
	}}
	r := scripted()
	r.feed(observer.Event{Kind: observer.Stored, Type: "ADDED", Key: "ns/a", New: obj})
	got, _ := r.Object(1)
	for _, want := range []string{`"replicas":3`, `"labels":{"app":"web"}`, `"name":"a"`, "unsupported type: chan int",
		"unsupported value: NaN", "more bytes"} {
		if !strings.Contains(string(got.After), want) {
			t.Errorf("got %s, want %s in it", got.After, want)
		}
	}
	if strings.Contains(string(got.After), "managedFields") {
		t.Errorf("got %s, want no managed fields", got.After)
	}
	if _, ok := obj.Object["metadata"].(map[string]any)["managedFields"]; !ok {
		t.Error("the object, which is shared, was changed")
	}
}
