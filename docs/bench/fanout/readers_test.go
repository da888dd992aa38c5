// What it costs when others read the store while it changes.

package fanout

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

const changesPerSecond = 2000

// BenchmarkReaders has readers that list one namespace of 10,000 pods after the
// other, all the time, while 2,000 changes are made each second, for b.N seconds.
// It reports how many changes the handler got within that time, and how many
// lists the readers got in each second of it. The readers take all of the
// machine that they can get: what the handler gets shows whether readers keep
// the informer from its work.
func BenchmarkReaders(b *testing.B) {
	for _, readers := range []int{4, 16} {
		each(b, fmt.Sprintf("readers=%d/objects=100000", readers), func(b *testing.B, informer newInformer) {
			window := time.Duration(b.N) * time.Second
			changes, reads := withReaders(b, informer, readers, func(r *reader, begin time.Time) {
				for r.read() && time.Since(begin) < window {
					r.reads++
				}
			})
			b.ReportMetric(float64(changes.within(window)), "delivered")
			b.ReportMetric(float64(reads)/window.Seconds(), "reads/s")
		})
	}
}

// BenchmarkReadersAtIntervals has four readers that list a namespace every 20 ms
// and leave most of the machine to others. They take turns. It reports the
// median and the 99th percentile of the time from just before a change is sent
// until the handler is entered.
func BenchmarkReadersAtIntervals(b *testing.B) {
	const readers, every = 4, 20 * time.Millisecond
	each(b, fmt.Sprintf("readers=%d/objects=100000", readers), func(b *testing.B, informer newInformer) {
		rounds := int(time.Duration(b.N) * time.Second / every)
		changes, reads := withReaders(b, informer, readers, func(r *reader, begin time.Time) {
			begin = begin.Add(every * time.Duration(r.number) / readers)
			for n := range rounds {
				time.Sleep(time.Until(begin.Add(every * time.Duration(n))))
				if !r.read() {
					return
				}
				r.reads++
			}
		})
		if want := rounds * readers; reads != want {
			b.Fatalf("%d reads, want %d", reads, want)
		}
		lags := changes.lags()
		b.ReportMetric(float64(lags[len(lags)/2]), "p50-ns")
		b.ReportMetric(float64(lags[len(lags)*99/100]), "p99-ns")
	})
}

// withReaders runs an informer with one handler, makes changes for b.N seconds,
// and lets readers read meanwhile. It returns when all is over and the handler
// has got every change, with the number of reads.
func withReaders(
	b *testing.B, informer newInformer, readers int, read func(r *reader, begin time.Time),
) (changes *schedule, reads int) {
	objects := many()
	changes = newSchedule(objects, changesPerSecond)
	s := newSource(makeVersion(objects, 0))
	w := newWatcher(b, informer, s, []*schedule{changes})
	stop := w.run(b)
	all := make([]reader, readers)
	runtime.GC() // nothing of the first list is to be collected while the clock runs
	b.ResetTimer()
	changes.begin = time.Now()
	var running sync.WaitGroup
	running.Go(func() { changes.send(b.Context(), s, b.N*changesPerSecond) })
	for i := range all {
		all[i] = reader{watcher: w, number: i, want: objects / namespaces}
		running.Go(func() { read(&all[i], changes.begin) })
	}
	running.Wait()
	b.StopTimer()
	changes.await(b)
	stop()
	changes.check(b)
	for _, r := range all {
		if r.err != nil {
			b.Fatalf("reader %d: %v", r.number, r.err)
		}
		reads += r.reads
	}
	if read, want := w.after(b, objects), min(len(changes.sent), objects); read != want {
		b.Fatalf("when all was over, %d pods were read as changed, want %d", read, want)
	}
	return changes, reads
}

// after reads all namespaces, and counts the pods that are past a version.
func (w *watcher) after(tb testing.TB, version int) (count int) {
	tb.Helper()
	for i := range namespaces {
		pods, err := w.GetIndexer().ByIndex(cache.NamespaceIndex, namespace(i))
		if err != nil {
			tb.Fatal(err)
		}
		for _, pod := range pods {
			if n, err := strconv.Atoi(pod.(*corev1.Pod).ResourceVersion); err != nil {
				tb.Fatal(err)
			} else if n > version {
				count++
			}
		}
	}
	return count
}

// A reader lists one namespace after the other.
type reader struct {
	*watcher
	number, want int // want is how many pods are in each
	next         int // namespace; the readers begin with different ones
	reads        int
	err          error    // of the last read
	_            [64]byte // keeps two readers off one cache line
}

// read is one read; false if it was not what it has to be.
func (r *reader) read() bool {
	r.err = r.inNamespace(namespace(r.number+r.next), r.want)
	r.next++
	return r.err == nil
}
