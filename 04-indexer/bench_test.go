// Benchmarks of the three ways to get the kind of an object.

package main

import (
	"os"
	"runtime"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

// podJSON returns a CoreDNS pod as an API server sends it, including managed fields.
func podJSON(b *testing.B) []byte {
	b.Helper()
	text, err := os.ReadFile("testdata/pod.json")
	must.NoError(b, err)
	return text
}

// decode decodes the pod as a client does.
func decode(b *testing.B, decoder apiruntime.Decoder, text []byte) apiruntime.Object {
	b.Helper()
	obj, err := apiruntime.Decode(decoder, text)
	must.NoError(b, err)
	return obj
}

// BenchmarkKind reports three times: to look up the kind in the scheme, to set the kind in a copy
// of the object, and to set it in a transform, without a copy.
func BenchmarkKind(b *testing.B) {
	pod := decode(b, scheme.Codecs.UniversalDeserializer(), podJSON(b))
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"scheme", func() error {
			_, _, err := scheme.Scheme.ObjectKinds(pod)
			return err
		}},
		{"scheme-and-copy", func() error {
			_, err := addKind(pod.DeepCopyObject())
			return err
		}},
		{"transform", func() error {
			_, err := addKind(pod)
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must.NoError(b, bench.do())
			}
		})
	}
}

// BenchmarkUntyped decodes the pod as a map and as a Go struct, in turns, and reports how many
// times as much memory and time the map takes.
func BenchmarkUntyped(b *testing.B) {
	text := podJSON(b)
	var untyped, typed cost
	for b.Loop() {
		untyped.add(func() any { return decode(b, unstructured.UnstructuredJSONScheme, text) })
		typed.add(func() any { return decode(b, scheme.Codecs.UniversalDeserializer(), text) })
	}
	b.ReportMetric(0, "ns/op") // the sum of both says nothing
	b.ReportMetric(typed.bytes/float64(b.N), "B/typed")
	b.ReportMetric(untyped.bytes/float64(b.N), "B/untyped")
	b.ReportMetric(untyped.bytes/typed.bytes, "memory-ratio")
	b.ReportMetric(float64(untyped.time)/float64(typed.time), "time-ratio")
}

// A cost is the time to decode an object, and the memory that the object needs.
type cost struct {
	time  time.Duration
	bytes float64
}

// add makes many objects, and adds the average cost of one object.
func (c *cost) add(object func() any) {
	const many = 200
	kept := make([]any, many)
	before, start := usage.Heap(), time.Now()
	for i := range kept {
		kept[i] = object()
	}
	c.time += time.Since(start) / many
	c.bytes += float64(usage.Heap()-before) / many
	runtime.KeepAlive(kept)
}
