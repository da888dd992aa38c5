// Claims of the book about client-go's DeltaFIFO, tested on the pinned version.

package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/must"
)

func TestDeltaFIFOHasNoListAnyMore(t *testing.T) {
	queue := reflect.TypeFor[*cache.DeltaFIFO]()
	for _, name := range []string{"List", "ListKeys", "Get", "GetByKey", "AddIfNotPresent"} {
		_, exists := queue.MethodByName(name)
		if exists {
			t.Errorf("DeltaFIFO has the method %s again", name)
		}
	}
}

// The calls of the step deltas, on client-go's queue.
func TestOurQueueAndClientGosPrintTheSame(t *testing.T) {
	queue, changed := newDeltaFIFO(), pod{"pod1", 1.1}
	for _, p := range []pod{pod1, pod2, pod3} {
		must.NoError(t, queue.Add(p))
	}
	must.NoError(t, queue.Update(changed))
	must.NoError(t, queue.Delete(changed))
	queue.Close()
	var theirs strings.Builder
	for {
		_, err := queue.Pop(func(obj any, _ bool) error {
			fmt.Fprintln(&theirs, "# pop")
			for _, delta := range obj.(cache.Deltas) {
				p := delta.Object.(pod)
				fmt.Fprintf(&theirs, "%s : %s : %v\n", delta.Type, p.Name, p.Value)
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			break
		}
		must.NoError(t, err)
	}
	ours, err := os.ReadFile("testdata/deltas.txt")
	must.NoError(t, err)
	if diff := cmp.Diff(string(ours), theirs.String()); diff != "" {
		t.Errorf("the step deltas (-) and client-go's DeltaFIFO (+) print different lines:\n%s", diff)
	}
}

func TestDeltaFIFOLosesTheDeleteOfWhatItDoesNotKnow(t *testing.T) {
	queue := newDeltaFIFO()
	must.NoError(t, queue.Delete(pod1))
	must.NoError(t, queue.Resync())
	wantPops(t, queue) // nothing

	queue = newDeltaFIFO()
	must.NoError(t, queue.Add(pod1))
	must.NoError(t, queue.Add(pod2))
	popOne(t, queue)
	must.NoError(t, queue.Delete(pod1))
	must.NoError(t, queue.Replace(nil, "1"))
	wantPops(t, queue, deltaTypes{cache.Added, cache.Deleted}) // of pod2, which waits; nothing of pod1
}

func TestDeltaFIFOsCommentsSay(t *testing.T) {
	must.FindInClientGo(t, "delta_fifo.go",
		"DeltaFIFO solves this use case: "+
			"- You want to process every object change (delta) at most once. "+
			"- When you process an object, you want to see "+
			"everything that's happened to it since you last processed it. "+
			"- You want to process the deletion of some of the objects. "+
			"- You might want to periodically reprocess objects.",
		"if you don't successfully process it, you need to add it back with AddIfNotPresent()",
		"Presumably, this was deleted when a relist happened. Don't provide a second report of the same deletion.")
}

// Other tests show the defaults of KnownObjects and EmitDeltaTypeReplaced:
// TestDeltaFIFOLosesTheDeleteOfWhatItDoesNotKnow and TestWhichCallMakesWhichTypeOfDelta.
func TestTheOptionsOfADeltaFIFO(t *testing.T) {
	var fields []string
	for field := range reflect.TypeFor[cache.DeltaFIFOOptions]().Fields() {
		fields = append(fields, field.Name)
	}
	want := []string{"Logger", "Name", "KeyFunction", "KnownObjects", "EmitDeltaTypeReplaced", "Transformer"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields of DeltaFIFOOptions (-want +got):\n%s", diff)
	}
	ours := reflect.TypeFor[deltafifo.Options]()
	for field := range ours.Fields() {
		if !slices.Contains(want, field.Name) {
			t.Errorf("our Options have the field %s, which DeltaFIFOOptions do not have", field.Name)
		}
	}
	if got := ours.NumField(); got != 3 {
		t.Errorf("our Options have %d fields, want 3", got)
	}

	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{})
	key, err := queue.KeyOf(realPod("pod1", "1"))
	if key != "ns1/pod1" || err != nil {
		t.Errorf("the default key is %q, error %v; want %q, nil", key, err, "ns1/pod1")
	}
	if name := queue.Name(); name != "DeltaFIFO" {
		t.Errorf("the default name is %q, want %q", name, "DeltaFIFO")
	}
	if queue.Transformer() != nil {
		t.Error("there is a transformer by default, want none")
	}
	must.FindInClientGo(t, "delta_fifo.go", "If set, log output will go to this logger instead of klog.Background().")
}

// The transformer gets the objects of the producer. It gets no object that was in the queue or in
// the store before.
func TestATransformerGetsNeitherTombstonesNorResyncs(t *testing.T) {
	var transformed []any
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction:  podKey,
		KnownObjects: knownPods{"pod1": pod1},
		Transformer: func(obj any) (any, error) {
			transformed = append(transformed, obj)
			return obj, nil
		},
	})
	must.NoError(t, queue.Resync())
	must.NoError(t, queue.Replace([]any{pod2}, "1")) // and a tombstone of pod1
	must.NoError(t, queue.Add(pod3))
	must.NoError(t, queue.Delete(pod3))
	want := []any{pod2, pod3, pod3}
	if !slices.Equal(transformed, want) {
		t.Errorf("the transformer got %v, want %v", transformed, want)
	}
	wantPops(t, queue,
		deltaTypes{cache.Sync, cache.Deleted},  // of pod1
		deltaTypes{cache.Sync},                 // of pod2
		deltaTypes{cache.Added, cache.Deleted}, // of pod3
	)
}
