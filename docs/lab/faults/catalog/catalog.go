// Package catalog has the faults: what can go wrong between the API server and a
// handler.
package catalog

import (
	"context"
	"slices"

	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/docs/lab/faults/scenario"
	"example.com/informer/docs/lab/faults/testenv"
)

// ClientGo is the name of client-go's informer among the implementations.
const ClientGo = "client-go"

// All returns the faults in the order of the report.
func All() []scenario.Fault {
	return slices.Concat(processes, connections, streams, answers, authorization, objects)
}

type steps = []scenario.Step

// each does something to every instance.
func each(do func(*scenario.Instance)) scenario.Step {
	return func(_ context.Context, s *scenario.Scenario) error {
		for _, in := range s.Instances {
			do(in)
		}
		return nil
	}
}

// reset resets all connections.
var reset = each(func(in *scenario.Instance) { in.TCP.Reset() })

// environment does something to the control plane.
func environment(do func(*testenv.Environment, context.Context) error) scenario.Step {
	return func(ctx context.Context, s *scenario.Scenario) error { return do(s.Environment, ctx) }
}

// hold lets a fault last as long as most do.
func hold(ctx context.Context, s *scenario.Scenario) error { return s.Hold(ctx, s.Scale.Hold) }

// missChanges waits for changes after a connection or a watch has broken: an
// informer can lose these.
func missChanges(ctx context.Context, s *scenario.Scenario) error { return s.WaitForChanges(ctx, 50) }

// until waits for something to be true of every instance.
func until(what string, condition func(*scenario.Instance) bool) scenario.Step {
	return func(ctx context.Context, s *scenario.Scenario) error {
		return s.Until(ctx, what, func() bool {
			return !slices.ContainsFunc(s.Instances, func(in *scenario.Instance) bool { return !condition(in) })
		})
	}
}

// rewatched tells whether an instance had to request both of its watches again.
func rewatched(in *scenario.Instance) bool {
	watches := map[string]int{}
	for c, n := range in.HTTP.Counts() {
		if c.Verb.Watches() {
			watches[c.Resource] += n
		}
	}
	return !slices.ContainsFunc(testenv.Resources, func(resource string) bool { return watches[resource] < 2 })
}

// saw tells whether a request of an instance had an outcome.
func saw(outcome string) func(*scenario.Instance) bool {
	return func(in *scenario.Instance) bool { return in.HTTP.Outcomes(outcome) > 0 }
}

// waitForOutcome waits until every instance saw an outcome.
func waitForOutcome(outcome string) scenario.Step {
	return until("all instances saw "+outcome, saw(outcome))
}

// inject injects a fault into all watches, and returns when each has sent it.
func inject(fault httpfault.FrameFault) scenario.Step {
	return scenario.Sequence(
		until("both watches are open", func(in *scenario.Instance) bool { return in.HTTP.Watches() == 2 }),
		each(func(in *scenario.Instance) { in.HTTP.Inject(fault) }),
		until("every watch has sent the fault", func(in *scenario.Instance) bool { return in.HTTP.Pending() == 0 }))
}
