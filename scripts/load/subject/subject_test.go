package subject

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/load/objects"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHandlersNoteWhatTheySee(t *testing.T) {
	hs := handlers{newHandler(2), newHandler(2)}
	first, second := objects.New(0), objects.New(1)
	first.ResourceVersion, second.ResourceVersion = "1", "2"
	for _, h := range hs {
		h.OnAdd(first, true)
		h.OnAdd(second, false)
	}
	if lags := hs.lags(); len(lags) != 2 || lags[0] <= 0 || lags[0] > lags[1] || len(hs.lags()) > 0 {
		t.Errorf("lags %v, want two, of what is new, in order, and once", lags)
	}
	changed := objects.New(0)
	changed.ResourceVersion = "3"
	hs[0].OnUpdate(first, changed)
	hs[0].OnUpdate(first, "no object")
	if n := hs.events(); n != 3 {
		t.Errorf("%d events, want 3", n)
	}
	for _, test := range []struct { // the second handler has missed the change
		listed []uint64
		want   int
	}{{[]uint64{1, 2}, 1}, {[]uint64{3, 2}, 1}, {[]uint64{3, 4}, 3}} {
		if n := hs.missing(test.listed); n != test.want {
			t.Errorf("%d are missing of %v, want %d", n, test.listed, test.want)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var all []time.Duration
	for i := range 101 {
		all = append(all, time.Duration(i))
	}
	if p50, p99, none := percentile(all, 50), percentile(all, 99), percentile(nil, 50); p50 != 50 || p99 != 99 || none != 0 {
		t.Errorf("got %d, %d, %d", p50, p99, none)
	}
}

func TestAMeterReadsWhatWasUsedSince(t *testing.T) {
	var m meter
	m.read()
	for deadline := time.Now().Add(time.Minute); usedCPU() == m.cpu && time.Now().Before(deadline); {
	}
	if r := m.read(); r.CPU <= 0 || r.Elapsed <= 0 || r.Requests != 0 {
		t.Errorf("read %+v after some work", r)
	}
	if peak, err := peakMemory(); err != nil || peak < liveHeap() {
		t.Errorf("peakMemory() = %d, %v; less than the heap", peak, err)
	}
}

func TestWrongSettings(t *testing.T) {
	var out bytes.Buffer
	err := Settings{Factory: "ours", Kubeconfig: "no-such-file"}.serve(strings.NewReader(""), &out)
	if err == nil || !strings.Contains(err.Error(), "no-such-file") || out.Len() > 0 {
		t.Errorf("error %v, reported %q", err, out.String())
	}
	if _, err := start(t.Context(), "theirs", nil, nil); err == nil || !strings.Contains(err.Error(), `"theirs"`) {
		t.Errorf("an unknown factory: %v", err)
	}
	if _, err := new(subject).obey(Order{Do: "dance"}); err == nil {
		t.Error("danced")
	}
}
