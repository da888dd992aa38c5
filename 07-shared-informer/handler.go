// The handlers of the steps: they print the calls that they get.

package main

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/05-watchdog/calls"
)

// named returns a handler that prints its calls, with its own name in front.
// state says in a word how an object is.
func named[T metav1.Object](printf func(string, ...any), name string, state func(T) string) cache.ResourceEventHandler {
	return calls.Print(func(format string, args ...any) { printf(name+" : "+format, args...) }, state)
}

// A log keeps the lines of a handler until it is its turn to be shown: two
// handlers run at the same time, and which one prints first is chance. The
// zero value is ready for use.
type log struct{ kube.Transcript }

// wait waits until the text was printed so many times.
func (l *log) wait(ctx context.Context, text string, times int) error {
	return flow.Until(ctx, "a handler is told "+text, func() bool { return strings.Count(l.Text(), text) >= times })
}
