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

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
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
			load := busyReaders(b, informer, readers, b.N)
			b.ReportMetric(float64(load.changes.within(time.Duration(b.N)*time.Second)), "delivered")
			b.ReportMetric(float64(load.reads)/float64(b.N), "reads/s")
		})
	}
}

func busyReaders(b *testing.B, informer newInformer, readers, seconds int) load {
	return withReaders(b, informer, readers, seconds, func(r *reader, begin time.Time) {
		for r.read() && time.Since(begin) < time.Duration(seconds)*time.Second {
			r.reads++
		}
	})
}

// BenchmarkReadersAtIntervals has four readers that list a namespace every 20 ms
// and leave most of the machine to others. They take turns. It reports the
// median and the 99th percentile of the time from the moment when a change was
// due until the handler is entered, and how many bytes were allocated for each
// change, by the readers, too. b.N should be so many seconds that garbage is
// collected meanwhile. Later is in a process that had another load before.
func BenchmarkReadersAtIntervals(b *testing.B) {
	const readers, every = 4, 20 * time.Millisecond
	for _, when := range []string{"first", "later"} {
		each(b, fmt.Sprintf("readers=%d/objects=100000/%s", readers, when), func(b *testing.B, informer newInformer) {
			if when == "later" {
				busyReaders(b, informer, readers, 3)
			}
			rounds := int(time.Duration(b.N) * time.Second / every)
			load := withReaders(b, informer, readers, b.N, func(r *reader, begin time.Time) {
				begin = begin.Add(every * time.Duration(r.number) / readers)
				for n := range rounds {
					time.Sleep(time.Until(begin.Add(every * time.Duration(n))))
					if !r.read() {
						return
					}
					r.reads++
				}
			})
			if want := rounds * readers; load.reads != want {
				b.Fatalf("%d reads, want %d", load.reads, want)
			}
			lags := load.changes.lags()
			b.ReportMetric(float64(lags[len(lags)/2]), "p50-ns")
			b.ReportMetric(float64(lags[len(lags)*99/100]), "p99-ns")
			b.ReportMetric(float64(load.bytes)/float64(len(lags)), "B/change")
		})
	}
}

// A load is what happened while others read.
type load struct {
	changes *schedule
	reads   int
	bytes   int // that were allocated
}

// withReaders runs an informer with one handler, makes changes for so many
// seconds, and lets readers read meanwhile. It returns when all is over and the
// handler has got every change.
func withReaders(
	b *testing.B, informer newInformer, readers, seconds int, read func(r *reader, begin time.Time),
) load {
	objects := many()
	changes := newSchedule(b, objects, changesPerSecond)
	s := newSource(makeVersion(objects, 0))
	w := newWatcher(b, informer, s, []*schedule{changes})
	stop := w.run(b)
	all := make([]reader, readers)
	runtime.GC() // nothing of the first list is to be collected while the clock runs
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
	over := load{changes: changes, bytes: usage.Allocated() - allocated}
	changes.finish(b, stop)
	for _, r := range all {
		if r.err != nil {
			b.Fatalf("reader %d: %v", r.number, r.err)
		}
		over.reads += r.reads
	}
	if read, want := w.after(b, objects), min(changes.sent, objects); read != want {
		b.Fatalf("when all was over, %d pods were read as changed, want %d", read, want)
	}
	return over
}

// after reads all namespaces, and counts the pods that are past a version.
func (w *watcher) after(tb testing.TB, version int) (count int) {
	tb.Helper()
	for i := range namespaces {
		pods, err := w.GetIndexer().ByIndex(cache.NamespaceIndex, namespace(i))
		must.Do(tb, err)
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
