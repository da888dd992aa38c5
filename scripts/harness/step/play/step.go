// Package play runs the steps of a chapter. A step is a short program. Its transcript,
// testdata/STEP.txt, is the output that the book shows and that the test compares with. The
// transcript is also the script of the events around the program while it runs.
//
// The package imports nothing of Kubernetes, so that a chapter that needs no cluster builds fast.
// Package step adds the cluster.
package play

import (
	"context"
	"time"
)

// A Step is one idea: a short program with an output to read. It returns by itself, or it runs
// until its context ends.
type Step struct {
	Name  string // one word, as typed on the command line
	Title string // one line, shown above the output
	Run   func(ctx context.Context, env *Env) error

	// Offline is for a step that needs no cluster in a chapter that needs one.
	Offline bool

	// Speakers are the names of several handlers. Each handler begins its lines with its name, as
	// in "first : ". Between two commands the lines of one speaker have an order; the lines of two
	// speakers have none.
	Speakers []string

	// Fold makes equal neighbours (of one speaker) count as one line. It is for a step whose events
	// come from a kubelet, because a kubelet repeats itself.
	Fold bool

	// Patience is how long the step may print nothing before the player continues without its lines.
	// It is also how long a command may take before the player gives up. Default: 10 seconds, and a
	// minute in tests.
	Patience time.Duration
}
