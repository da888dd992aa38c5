// Chapter 06: one event, many handlers. No cluster is needed.
package main

import "example.com/informer/01-deltafifo/steps"

var chapter = steps.Chapter{
	Name:  "06-processor",
	Title: "one event, many handlers",
	Steps: []steps.Step{
		{Name: "listener", Title: "an add side that never waits, and a run side that takes its time", Run: listener},
		{Name: "shared", Title: "two handlers, the same events", Run: shared},
		{Name: "slow", Title: "one takes a second for each event; the other does not notice", Run: slow},
		{Name: "stalled", Title: "100,000 updates while a handler is stuck", Run: stalled},
		{Name: "late", Title: "a handler that joins when all is running", Run: late},
		{Name: "panic", Title: "one handler panics", Run: panicking},
		{Name: "stop", Title: "what a stop drops, and what it waits for", Run: stopping},
	},
}

func main() { steps.Main(chapter) }
