// What it costs to know an object's kind, in each of the three ways.

package main

import (
	"os"
	"runtime"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// podJSON is a CoreDNS pod as an API server sends it, managed fields and all.
func podJSON(b *testing.B) []byte {
	b.Helper()
	text, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// decode decodes the pod as a client would.
func decode(b *testing.B, decoder apiruntime.Decoder, text []byte) apiruntime.Object {
	b.Helper()
	obj, err := apiruntime.Decode(decoder, text)
	if err != nil {
		b.Fatal(err)
	}
	return obj
}

// BenchmarkKind reports the time that the scheme takes to say the kind, that a
// copy takes which one may write it into, and that a transform takes.
func BenchmarkKind(b *testing.B) {
	pod := decode(b, scheme.Codecs.UniversalDeserializer(), podJSON(b))
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"scheme", func() error { _, _, err := scheme.Scheme.ObjectKinds(pod); return err }},
		{"scheme-and-copy", func() error { _, err := addKind(pod.DeepCopyObject()); return err }},
		{"transform", func() error { _, err := addKind(pod); return err }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUntyped decodes the pod as a map and as a Go struct, in turns, and
// reports how many times as much memory and time the map takes.
func BenchmarkUntyped(b *testing.B) {
	text := podJSON(b)
	var untyped, typed cost
	for b.Loop() {
		untyped.add(measure(func() any { return decode(b, unstructured.UnstructuredJSONScheme, text) }))
		typed.add(measure(func() any { return decode(b, scheme.Codecs.UniversalDeserializer(), text) }))
	}
	b.ReportMetric(0, "ns/op") // of both together, it says nothing
	b.ReportMetric(typed.bytes/float64(b.N), "B/typed")
	b.ReportMetric(untyped.bytes/float64(b.N), "B/untyped")
	b.ReportMetric(untyped.bytes/typed.bytes, "memory-ratio")
	b.ReportMetric(float64(untyped.time)/float64(typed.time), "time-ratio")
}

// cost is what one object took to decode, and the memory that it holds on to.
type cost struct {
	time  time.Duration
	bytes float64
}

func (c *cost) add(other cost) {
	c.time += other.time
	c.bytes += other.bytes
}

// measure makes many objects and returns the cost of one.
func measure(object func() any) cost {
	const many = 200
	kept := make([]any, many)
	before := heap()
	start := time.Now()
	for i := range kept {
		kept[i] = object()
	}
	took := time.Since(start)
	held := heap() - before
	runtime.KeepAlive(kept)
	return cost{time: took / many, bytes: held / many}
}

// heap returns the bytes that are in use.
func heap() float64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
