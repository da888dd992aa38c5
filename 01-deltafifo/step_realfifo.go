package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/realfifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepRealfifo makes the calls of the step deltas to a RealFIFO. It does not group deltas: five pops
// return one delta each, in the order of arrival.
func stepRealfifo(_ context.Context, env *play.Env) error {
	queue := realfifo.New()
	for _, p := range []pod{{"pod1", 1}, {"pod2", 2}, {"pod3", 3}} {
		if err := queue.Add(p); err != nil {
			return err
		}
	}
	changed := pod{"pod1", 1.1}
	if err := queue.Update(changed); err != nil {
		return err
	}
	if err := queue.Delete(changed); err != nil {
		return err
	}
	queue.Close()
	for {
		err := queue.Pop(func(deltas cache.Deltas, isInInitialList bool) error {
			fmt.Fprintln(env.Out, "# pop")
			for _, delta := range deltas {
				p := delta.Object.(pod)
				fmt.Fprintf(env.Out, "%s : %s : %v\n", delta.Type, p.Name, p.Value)
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
