// Package catalog has the faults: everything that can go wrong between the API
// server and a handler.
package catalog

import (
	"context"
	"errors"

	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/tamper"
)

// ClientGo is the name of client-go's informer among the contenders.
const ClientGo = "client-go"

// All returns the faults in the order in which they are told.
func All() []bout.Fault {
	var all []bout.Fault
	for _, some := range [][]bout.Fault{processes, connections, streams, answers, rights, objects} {
		all = append(all, some...)
	}
	return all
}

// each does something to every subject.
func each(b *bout.Bout, do func(*bout.Subject)) {
	for _, s := range b.Subjects {
		do(s)
	}
}

// inTurn does one thing after the other, up to the first error.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// hold lets a fault last as long as most do.
func hold(ctx context.Context, b *bout.Bout) func() error {
	return func() error { return b.Hold(ctx, b.Scale.Hold) }
}

// rewatched tells whether a subject had to ask again for both of its watches.
func rewatched(s *bout.Subject) bool {
	for _, resource := range []string{"configmaps", "pods"} {
		asked := 0
		for c, n := range s.HTTP.Counts() {
			if c.Resource == resource && (c.Verb == "WATCH" || c.Verb == "STREAM") {
				asked += n
			}
		}
		if asked < 2 {
			return false
		}
	}
	return true
}

// saw tells whether a subject got an outcome of a request.
func saw(outcome string) func(*bout.Subject) bool {
	return func(s *bout.Subject) bool { return s.HTTP.Outcomes(outcome) > 0 }
}

// play plays a trick on all watches, and returns when it was played on each.
func play(ctx context.Context, b *bout.Bout, trick tamper.Trick) error {
	var errs []error
	var left []func() int
	for _, s := range b.Subjects {
		errs = append(errs, bout.Until(ctx, b.Scale.Patience, s.Name+" watches both", func() bool {
			return s.HTTP.Watches() == 2
		}))
		left = append(left, s.HTTP.Play(trick))
	}
	errs = append(errs, bout.Until(ctx, b.Scale.Patience, "the next frame of every watch has come", func() bool {
		for _, n := range left {
			if n() > 0 {
				return false
			}
		}
		return true
	}))
	return errors.Join(errs...)
}
