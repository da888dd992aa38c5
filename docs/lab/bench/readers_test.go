// Benchmarks with readers that read the store while it changes.

package main

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

const changesPerSecond = 2000

// BenchmarkReaders runs for b.N seconds, with 2,000 changes in each second. Its readers list one
// namespace of 10,000 pods after the other, without a pause. It reports how many changes the
// handler got within that time, and how many lists the readers got per second. The readers
// use as much of the machine as they can get, so the number of changes shows whether readers hold
// up the informer.
func BenchmarkReaders(b *testing.B) {
	for _, readers := range []int{4, 16} {
		eachInformer(b, fmt.Sprintf("readers=%d/objects=100000", readers), func(b *testing.B, informer newInformer) {
			result := busyReaders(b, informer, readers, b.N)
			b.ReportMetric(float64(result.changes.within(time.Duration(b.N)*time.Second)), "delivered")
			b.ReportMetric(float64(result.reads)/float64(b.N), "reads/s")
		})
	}
}

// busyReaders runs readers that list without a pause.
func busyReaders(b *testing.B, informer newInformer, readers, seconds int) readersResult {
	return runReaders(b, informer, readers, seconds, func(r *reader, begin time.Time) {
		for r.read() && time.Since(begin) < time.Duration(seconds)*time.Second {
			r.reads++
		}
	})
}

// BenchmarkReadersAtIntervals runs for b.N seconds. Each of its four readers lists a namespace
// every 20 ms, so most of the machine is free. The readers take turns. The benchmark reports the
// median and the 99th percentile of the time from the moment when a change was due until the
// handler was called. It also reports how many bytes were allocated for each change,
// including those of the readers. It should run long enough that garbage is collected. The variant
// later runs after busy readers, in the same process.
func BenchmarkReadersAtIntervals(b *testing.B) {
	const readers, interval = 4, 20 * time.Millisecond
	for _, when := range []string{"first", "later"} {
		name := fmt.Sprintf("readers=%d/objects=100000/%s", readers, when)
		eachInformer(b, name, func(b *testing.B, informer newInformer) {
			if when == "later" {
				busyReaders(b, informer, readers, 3)
			}
			rounds := int(time.Duration(b.N) * time.Second / interval)
			result := runReaders(b, informer, readers, b.N, func(r *reader, begin time.Time) {
				begin = begin.Add(interval * time.Duration(r.number) / readers)
				for n := range rounds {
					time.Sleep(time.Until(begin.Add(interval * time.Duration(n))))
					if !r.read() {
						return
					}
					r.reads++
				}
			})
			if want := rounds * readers; result.reads != want {
				b.Fatalf("the readers made %d reads, want %d", result.reads, want)
			}
			lags := result.changes.lags()
			b.ReportMetric(float64(lags[len(lags)/2]), "p50-ns")
			b.ReportMetric(float64(lags[len(lags)*99/100]), "p99-ns")
			b.ReportMetric(float64(result.bytes)/float64(len(lags)), "B/change")
		})
	}
}

// A readersResult is the result of runReaders.
type readersResult struct {
	changes *schedule
	reads   int // by all readers
	bytes   int // allocated meanwhile
}

// runReaders runs an informer with one handler, makes changes for this number of seconds, and runs
// the readers at the same time. It returns when the readers have returned and the handler has received
// every change.
func runReaders(
	b *testing.B, informer newInformer, readers, seconds int, read func(r *reader, begin time.Time),
) readersResult {
	objects := largeStore()
	changes := newSchedule(b, objects, changesPerSecond)
	s := newSource(makeVersion(objects, 0))
	w := newWatcher(b, informer, s, []*schedule{changes})
	stop := w.run(b)
	all := make([]reader, readers)
	runtime.GC() // so that the garbage of the first list is not collected while the clock runs
	allocated := usage.Allocated()
	b.ResetTimer()
	changes.start(b.Context(), b, s, seconds*changesPerSecond)
	var running sync.WaitGroup
	for i := range all {
		all[i] = reader{watcher: w, number: i, want: objects / namespaces}
		running.Go(func() { read(&all[i], changes.begin) })
	}
	running.Wait()
	changes.sending.Wait()
	b.StopTimer()
	result := readersResult{changes: changes, bytes: usage.Allocated() - allocated}
	changes.finish(b, stop)
	for _, r := range all {
		if r.err != nil {
			b.Fatalf("reader %d: %v", r.number, r.err)
		}
		result.reads += r.reads
	}
	if got, want := w.countNewer(b, objects), min(changes.sent, objects); got != want {
		b.Fatalf("after the last change, the store has %d changed pods, want %d", got, want)
	}
	return result
}

// countNewer lists all namespaces, and counts the pods that are newer than a version.
func (w *watcher) countNewer(tb testing.TB, version int) (count int) {
	tb.Helper()
	for i := range namespaces {
		pods, err := w.GetIndexer().ByIndex(cache.NamespaceIndex, namespace(i))
		must.NoError(tb, err)
		for _, pod := range pods {
			n, err := strconv.Atoi(pod.(*corev1.Pod).ResourceVersion)
			must.NoError(tb, err)
			if n > version {
				count++
			}
		}
	}
	return count
}

// A reader lists one namespace after the other.
type reader struct {
	*watcher
	number int      // of the reader; it begins with the namespace of this number
	want   int      // the number of pods in each namespace
	next   int      // the number of lists so far
	reads  int      // the number of lists that count
	err    error    // of the last list
	_      [64]byte // so that two readers do not share a cache line
}

// read lists the next namespace. It returns false if the list is wrong.
func (r *reader) read() bool {
	r.err = r.checkNamespace(namespace(r.number+r.next), r.want)
	r.next++
	return r.err == nil
}
