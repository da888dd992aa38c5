// Package must ends a test at once where it cannot go on.
package must

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Run runs something until the test is over, or stop is called, and waits for its end.
func Run(t testing.TB, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); run(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// Patience is how long Until waits. It only ends a hang. The pause of a reflector that was often refused
// can be a minute, and a busy machine needs more on top of it.
const Patience = 3 * time.Minute

// Until waits for a condition, for as long as Patience.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, Patience, true,
		func(context.Context) (bool, error) { return condition(), nil }) != nil {
		t.Fatalf("waited in vain: %s", what)
	}
}
