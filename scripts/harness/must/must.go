// Package must has the helpers that many tests need. It ends a test that cannot continue, waits for
// a condition, plays the steps of a chapter, and runs a chapter as a program.
package must

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// NoError ends the test if there is an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Run calls run in a goroutine. At the end of the test, or when stop is called, it ends the context
// of run, and waits until run has returned.
func Run(t testing.TB, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

// Patience is how long Until waits. It only ends a hang. A reflector that was often refused may
// pause for a minute, and a busy machine needs more time.
const Patience = 3 * time.Minute

// Until waits until condition returns true. It ends the test if that takes longer than Patience.
// The description says what the condition is, such as "the connection is closed".
func Until(t testing.TB, description string, condition func() bool) {
	t.Helper()
	poll := func(context.Context) (bool, error) { return condition(), nil }
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, Patience, true, poll)
	if err != nil {
		t.Fatalf("waited in vain until %s: %v", description, err)
	}
}
