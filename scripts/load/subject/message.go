// Package subject is the process under load: one factory, ours or client-go's,
// with its informer of ConfigMaps and its handlers. It is told what to do on its
// standard input, answers on its standard output, and ends when its input ends.
package subject

import "time"

// Settings of a subject.
type Settings struct {
	Factory    string // report.Ours or report.Theirs
	Kubeconfig string
	Objects    int
	Handlers   int
	Profiles   string // what the names of profiles begin with; none are written if it is empty
}

// An Order says what to do next. To each there is one answer, a Report; there is
// one more before, of the time until all handlers have synced.
type Order struct {
	Do       string
	Versions []uint64 // with Judge: of each object, by its number, as a LIST has them
}

// What can be ordered.
const (
	Begin  = "begin"  // collect garbage, so that all begin alike; then measure from here
	Mark   = "mark"   // report what was measured since the last report
	Memory = "memory" // report how much is held
	Judge  = "judge"  // wait until all handlers have seen these versions, or too long
)

// A Report answers an order. What was not asked for is left out.
type Report struct {
	Elapsed, CPU    time.Duration
	Bytes, Requests int // that came from the API server, and went to it
	Events          int // that handlers were told of, all together; with Judge since the sync
	Median, P99     time.Duration

	Heap, Peak int // live after a garbage collection; resident at most, ever
	Lost       int // objects that a handler has seen no last state of, all handlers together
}
