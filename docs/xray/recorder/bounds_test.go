// The limits of what a recorder keeps.

package recorder

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/must"
)

func TestOnlyTheLastRecordsAreKept(t *testing.T) {
	for _, test := range []struct {
		name string
		text string // of each field of the objects
		want int    // records
	}{
		{name: "small objects", text: "", want: MaxRecords},
		{name: "large objects", text: strings.Repeat("x", maxTextBytes), want: MaxBytes / maxObjectBytes},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRecorder()
			for i := range test.want + 10 {
				cm := configMap("a", fmt.Sprint(i+1), "")
				cm.Data = map[string]string{}
				for key := range maxObjectBytes / maxTextBytes {
					cm.Data[fmt.Sprint(key)] = test.text
				}
				r.feed(observer.Received{Type: watch.Modified, Key: "ns/a", Object: cm})
			}
			kept := len(r.history.kept)
			if kept > test.want || kept < test.want*9/10 {
				t.Errorf("%d records are kept, want %d or few less", kept, test.want)
			}
			bytes := 0
			for _, k := range r.history.kept {
				bytes += k.size()
			}
			if bytes > MaxBytes {
				t.Errorf("the records have %d bytes, want at most %d", bytes, MaxBytes)
			}
			if got := r.history.bytes; got != bytes {
				t.Errorf("history.bytes = %d, want %d", got, bytes)
			}
			wantKept(t, r)
		})
	}
}

// wantKept checks that the history has its first and its last record, whose numbers are their
// versions, and neither the record before nor the record after them.
func wantKept(t *testing.T, r *Recorder) {
	t.Helper()
	last := r.history.seq
	first := last - int64(len(r.history.kept)) + 1
	for _, seq := range []int64{first - 1, last + 1} {
		if _, ok := r.history.get(seq); ok {
			t.Errorf("history.get(%d) = _, true; want false: it has the records %d to %d", seq, first, last)
		}
	}
	for _, seq := range []int64{first, last} {
		got, ok := r.history.get(seq)
		if want := fmt.Sprintf(`"resourceVersion":"%d"`, seq); !ok || !strings.Contains(string(got.After), want) {
			t.Errorf("history.get(%d) = %.200s, %t; want %s in it, true", seq, got.After, ok, want)
		}
	}
}

// Whatever part of a value is large, the shortened value is small.
func TestWhatIsLeftOut(t *testing.T) {
	many := map[string]any{}
	var deep any = "deep"
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
		room := maxObjectBytes
		text := encode(shorten(test.value, &room))
		if len(text) > 2*maxObjectBytes {
			t.Errorf("shortened to %d bytes, want at most %d: %.50s …", len(text), 2*maxObjectBytes, text)
		}
		if !strings.Contains(string(text), test.want) {
			t.Errorf("shortened to %.50s … %.50s, want %s in it", text, text[max(0, len(text)-50):], test.want)
		}
	}
}

// An object that must not be shown is not kept.
func TestAnObjectOfAnotherNamespaceAndASecret(t *testing.T) {
	a, other := configMap("a", "1", ""), configMap("a", "1", "")
	other.Namespace = "other"
	for _, test := range []struct {
		kind string
		obj  *corev1.ConfigMap
		want bool
	}{
		{kind: "ConfigMap", obj: a, want: true},
		{kind: "ConfigMap", obj: other, want: false},
		{kind: "Secret", obj: a, want: false},
	} {
		r := newRecorder()
		r.Kind = test.kind
		r.feed(stored(processor.Added, nil, test.obj))
		got, ok := r.Object(1)
		if !ok || got.Shown() != test.want {
			t.Errorf("%s of namespace %s: Object(1) = %s, %t; Shown() = %t, want %t", test.kind, test.obj.Namespace,
				got.After, ok, got.Shown(), test.want)
		}
	}
}

// After the end nobody takes events out of the inbox.
func TestARecorderThatHasEndedKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		r.Observer(Ours).Observe(observer.Bookmark{Version: "1"}) // an event before Run counts
		stop := must.Run(t, r.Run)
		synctest.Wait()
		if got := r.After(0).Seq; got != 1 {
			t.Errorf("%d records of what happened before Run, want 1", got)
		}
		r.Observer(Ours).Observe(observer.Bookmark{Version: "2"})
		stop()
		for range 1000 {
			r.Observer(Ours).Observe(observer.Bookmark{Version: "3"})
		}
		if got := len(r.inbox.events); got != 0 {
			t.Errorf("%d events are kept after the end, want 0", got)
		}
	})
}

// A transform can put anything into an unstructured object. A server sends no int, only int64.
// DeepCopy panics for all that is not of JSON.
func TestWhatAnUnstructuredObjectMayHold(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "ns", "name": "a", "managedFields": []any{"many"}},
		"replicas": 3, "labels": map[string]string{"app": "web"}, "ratio": math.NaN(), "done": make(chan int),
		"large": []string{strings.Repeat("x", 1_000_000)},
	}}
	r := newRecorder()
	r.feed(stored(processor.Added, nil, obj))
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
