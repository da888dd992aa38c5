// Package catalog has the faults: everything that can go wrong between the API
// server and a handler.
package catalog

import (
	"context"
	"slices"

	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/ground"
	"example.com/informer/scripts/faults/tamper"
)

// ClientGo is the name of client-go's informer among the contenders.
const ClientGo = "client-go"

// All returns the faults in the order in which they are told.
func All() []bout.Fault {
	return slices.Concat(processes, connections, streams, answers, rights, objects)
}

type steps = []bout.Step

// each does something to every subject.
func each(do func(*bout.Subject)) bout.Step {
	return func(_ context.Context, b *bout.Bout) error {
		for _, s := range b.Subjects {
			do(s)
		}
		return nil
	}
}

// reset breaks all connections.
var reset = each(func(s *bout.Subject) { s.TCP.Reset() })

// server does something to the server.
func server(do func(*ground.Ground, context.Context) error) bout.Step {
	return func(ctx context.Context, b *bout.Bout) error { return do(b.Ground, ctx) }
}

// hold lets a fault last as long as most do.
func hold(ctx context.Context, b *bout.Bout) error { return b.Hold(ctx, b.Scale.Hold) }

// miss has changes made after a connection or a watch has broken, so that there
// is something to be lost.
func miss(ctx context.Context, b *bout.Bout) error { return b.Changes(ctx, 50) }

// until waits for something to be true of every subject.
func until(what string, condition func(*bout.Subject) bool) bout.Step {
	return func(ctx context.Context, b *bout.Bout) error {
		return b.Until(ctx, what, func() bool {
			return !slices.ContainsFunc(b.Subjects, func(s *bout.Subject) bool { return !condition(s) })
		})
	}
}

// rewatched tells whether a subject had to ask again for both of its watches.
func rewatched(s *bout.Subject) bool {
	asked := map[string]int{}
	for c, n := range s.HTTP.Counts() {
		if c.Verb == "WATCH" || c.Verb == "STREAM" {
			asked[c.Resource] += n
		}
	}
	return !slices.ContainsFunc(ground.Resources, func(resource string) bool { return asked[resource] < 2 })
}

// saw tells whether a subject got an outcome of a request.
func saw(outcome string) func(*bout.Subject) bool {
	return func(s *bout.Subject) bool { return s.HTTP.Outcomes(outcome) > 0 }
}

// answered waits until every subject got an outcome.
func answered(outcome string) bout.Step { return until("all were answered "+outcome, saw(outcome)) }

// play plays a trick on all watches, and returns when it was played on each.
func play(trick tamper.Trick) bout.Step {
	return bout.InTurn(
		until("both are watched", func(s *bout.Subject) bool { return s.HTTP.Watches() == 2 }),
		each(func(s *bout.Subject) { s.HTTP.Play(trick) }),
		until("the next frame of every watch has come", func(s *bout.Subject) bool { return s.HTTP.Unplayed() == 0 }))
}
