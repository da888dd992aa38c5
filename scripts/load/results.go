// Everything that was measured, as benchstat reads it.

package main

import (
	"fmt"
	"runtime"
	"strings"

	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/load/subject"
)

func results(m *measured) string {
	var text strings.Builder
	fmt.Fprintf(&text, "date: %s\ngo: %s\nclient-go: %s\ngoos: %s\ngoarch: %s\ncpu: %s\n",
		m.date, runtime.Version(), report.ClientGo(), runtime.GOOS, runtime.GOARCH, report.CPU())
	for _, s := range m.bySize {
		for _, name := range names {
			side := s.sides[name]
			line := func(bench string, n int, format string, args ...any) {
				fmt.Fprintf(&text, "Benchmark%s/objects=%d/informer=%s \t %d \t %s\n", bench, s.objects, name, n, fmt.Sprintf(format, args...))
			}
			for _, r := range side.syncs {
				line("Sync", 1, "%d ns/op \t %s", r.Elapsed.Nanoseconds(), used(r))
			}
			for _, r := range side.slices {
				line("Changes", r.Events, "%d p50-ns \t %d p99-ns \t %s", r.Median.Nanoseconds(), r.P99.Nanoseconds(), used(r))
			}
			for _, r := range side.synced {
				line("MemoryAfterSync", 1, "%d heap-B \t %d peak-B", r.Heap, r.Peak)
			}
			line("MemoryAfterChanges", 1, "%d heap-B \t %d peak-B", side.after.Heap, side.after.Peak)
			line("Handlers", 1, "%d events \t %d lost", side.end.Events, side.end.Lost)
		}
	}
	return text.String()
}

func used(r subject.Report) string {
	return fmt.Sprintf("%d cpu-ns \t %d received-B \t %d requests", r.CPU.Nanoseconds(), r.Bytes, r.Requests)
}
