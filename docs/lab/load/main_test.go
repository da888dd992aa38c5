// Tests of a quick run, of the table in the book, and of the parts of the load test.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"example.com/informer/docs/lab/report"
	"example.com/informer/scripts/harness/must"
)

// A quick run loses nothing, and has all results. The test does not look at the times: on a busy machine,
// a quick run can measure anything.
func TestAQuickRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0],
		"-test.short", "-test.run=^$", "-test.bench=^BenchmarkLoad$", "-test.benchtime=1x")
	cmd.Stderr = t.Output()
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	results, err := report.Read(newPlan(true).head() + string(output))
	must.NoError(t, err)
	_, err = table(results)
	must.NoError(t, err)
	for _, name := range []string{"100/%s/informer=client-go", "100/%s/informer=ours", "300/%s/informer=ours"} {
		name = "Load/objects=" + name
		wantEvents := []float64{1000} // 50 changes per second for 2 s, to 10 handlers
		if events := results.Values(fmt.Sprintf(name, "Handlers"), "events"); !slices.Equal(events, wantEvents) {
			t.Errorf("%s: the events are %v, want %v", name, events, wantEvents)
		}
		received := results.Values(fmt.Sprintf(name, "Sync"), "received-B")
		if len(received) != 2 || received[0] < 50*payload {
			t.Errorf("%s: the bytes received to sync are %v, want two values, and the first at least %d",
				name, received, 50*payload)
		}
		for _, unit := range []string{"sec/op", "requests"} {
			if values := results.Values(fmt.Sprintf(name, "Sync"), unit); slices.Min(values) <= 0 {
				t.Errorf("%s: the values of %s to sync are %v, want more than 0", name, unit, values)
			}
		}
	}
}

// The table in the book is that of the results in the same folder.
func TestTheBooksTable(t *testing.T) {
	got, err := table(readResults(t))
	must.NoError(t, err)
	want, err := os.ReadFile("table.txt")
	must.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("go run ./docs/lab/load gives another table than table.txt (-table.txt +new):\n%s", diff)
	}
}

func TestATableWithLostObjectsIsAnError(t *testing.T) {
	results := readResults(t)
	results.Values("Load/objects=1000/Handlers/informer=ours", "lost")[0] = 1
	got, err := table(results)
	if want := "1 objects were lost"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("table() = %v, want an error that begins with %q", err, want)
	}
	if got == "" {
		t.Error("table() returned no table, want one with the error")
	}
}

// readResults reads the results in this folder.
func readResults(t *testing.T) *report.Results {
	t.Helper()
	text, err := os.ReadFile("results.txt")
	must.NoError(t, err)
	results, err := report.Read(string(text))
	must.NoError(t, err)
	return results
}

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		ratio  float64
		ratios []float64
		want   string
	}{
		{3.5, []float64{2, 3, 4, 0.9}, "better"},
		{1.5, []float64{2, 3, 0.8, 0.9}, "noise"},
		{0.4, []float64{0.5, 0.25}, "worse"},
		{0.985, []float64{0.99, 0.98}, "the same"},
	} {
		got := verdict(report.Comparison{Ratio: test.ratio, Ratios: test.ratios})
		if got != test.want {
			t.Errorf("verdict(%v, rounds %v) = %q, want %q", test.ratio, test.ratios, got, test.want)
		}
	}
}

func TestAClientThatFails(t *testing.T) {
	err := startProcess(t, ours).rpc.Call("Client.Sync", Settings{Kubeconfig: "no-such-file"}, &Values{})
	if want := "stat no-such-file: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("Client.Sync of a missing kubeconfig = %v, want %s", err, want)
	}
}

// newHandlers returns two handlers for two objects. Both have got the objects in the versions 1 and
// 2, the first one in the initial list.
func newHandlers(first, second *corev1.ConfigMap) handlers {
	hs := handlers{{versions: make([]uint64, 2)}, {versions: make([]uint64, 2)}}
	first.ResourceVersion, second.ResourceVersion = "1", "2"
	other := newConfigMap(1)
	other.Name = "kube-root-ca.crt" // the cluster's own
	for _, h := range hs {
		h.OnAdd(first, true)
		h.OnAdd(second, false)
		h.OnAdd(other, false)
	}
	return hs
}

func TestHandlersRecordLags(t *testing.T) {
	first := newConfigMap(0)
	hs := newHandlers(first, newConfigMap(1))
	lags := hs.takeLags()
	if len(lags) != 2 {
		t.Fatalf("takeLags() = %v, want one lag of each handler: the first object is of the initial list", lags)
	}
	if lags[0] <= 0 || lags[1] > time.Minute || !slices.IsSorted(lags) {
		t.Errorf("takeLags() = %v, want more than 0, less than a minute, and shortest first", lags)
	}
	if again := hs.takeLags(); len(again) > 0 {
		t.Errorf("takeLags() = %v after another call, want none", again)
	}
	changed := newConfigMap(0)
	changed.ResourceVersion = "3"
	hs[0].OnUpdate(first, changed)
	if lags := hs.takeLags(); len(lags) != 1 {
		t.Errorf("takeLags() = %v after an update, want one lag", lags)
	}
}

func TestHandlersThatMissChanges(t *testing.T) {
	first := newConfigMap(0)
	hs := newHandlers(first, newConfigMap(1))
	changed := newConfigMap(0)
	changed.ResourceVersion = "3"
	hs[0].OnUpdate(first, changed) // the second handler misses this change
	for _, test := range []struct {
		listed []uint64
		want   int
	}{
		{[]uint64{1, 2}, 1},
		{[]uint64{3, 2}, 1},
		{[]uint64{3, 4}, 3},
	} {
		if got := hs.missing(test.listed); got != test.want {
			t.Errorf("missing(%v) = %d, want %d", test.listed, got, test.want)
		}
	}
}
