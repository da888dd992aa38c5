// A fault, and the steps that it consists of.

package main

import "context"

// An entry of the catalog is something that goes wrong between the API server and a handler.
type entry struct {
	name string

	before        steps                // prepare the fault, before the informers start
	inject        steps                // the fault begins with the first step, and is over after the last one
	after         steps                // clean up
	noticed       func(*instance) bool // says whether an instance has noticed the fault; nil if none has to
	clientGoFails string               // what client-go's informer does wrong; "" if it does nothing wrong
}

// step is a part of a fault, or of a scenario.
type step func(context.Context, *scenario) error

type steps []step

// run runs the steps one after the other, up to the first error.
func (all steps) run(ctx context.Context, s *scenario) error {
	for _, step := range all {
		if err := step(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
