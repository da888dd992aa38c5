package main

import (
	"testing"
	"time"

	"example.com/informer/scripts/harness/usage"
)

func TestHandlersNoteWhatTheySee(t *testing.T) {
	hs := handlers{newHandler(2), newHandler(2)}
	first, second := newConfigMap(0), newConfigMap(1)
	first.ResourceVersion, second.ResourceVersion = "1", "2"
	for _, h := range hs {
		h.OnAdd(first, true)
		h.OnAdd(second, false)
	}
	if lags := hs.lags(); len(lags) != 2 || lags[0] <= 0 || lags[0] > lags[1] || len(hs.lags()) > 0 {
		t.Errorf("lags %v, want two, of what is new, in order, and once", lags)
	}
	changed := newConfigMap(0)
	changed.ResourceVersion = "3"
	hs[0].OnUpdate(first, changed)
	if lags := hs.lags(); len(lags) != 1 {
		t.Errorf("lags %v after a change", lags)
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
	if p50, p99 := percentile(all, 50), percentile(all, 99); p50 != 50 || p99 != 99 || percentile(nil, 50) != 0 {
		t.Errorf("got %v and %v, and %v of nothing", p50, p99, percentile(nil, 50))
	}
}

func TestAMeterReadsWhatWasUsedSince(t *testing.T) {
	var m meter
	m.read()
	deadline := time.Now().Add(time.Minute)
	for float64(usedCPU()) == m.last["cpu-ns"] && time.Now().Before(deadline) {
	}
	if v := m.read(); v["cpu-ns"] <= 0 || v["ns/op"] <= 0 || v["requests"] != 0 {
		t.Errorf("read %v after some work", v)
	}
	if peak, err := peakMemory(); err != nil || peak < usage.Heap() {
		t.Errorf("peakMemory() = %d, %v; less than the heap", peak, err)
	}
	if all, used := cores(); used < 0 || used > all {
		t.Errorf("%v of %v seconds in use", used, all)
	}
}

func TestConfigMaps(t *testing.T) {
	before := time.Now()
	object := newConfigMap(4711)
	object.ResourceVersion = "12"
	if n, version, err := number(object); n != 4711 || version != 12 || err != nil {
		t.Errorf("number() = %d, %d, %v", n, version, err)
	}
	if at := sent(object); at.Before(before.Round(0)) || time.Since(at) > time.Minute {
		t.Errorf("sent() = %v", at)
	}
	if text := object.Data["text"]; len(text) != 1024 || text != newConfigMap(4711).Data["text"] {
		t.Errorf("%d bytes of text, want 1,024, always the same for one number", len(text))
	}
	object.Name = "kube-root-ca.crt"
	if _, _, err := number(object); err == nil {
		t.Error("another ConfigMap has a number")
	}
}
