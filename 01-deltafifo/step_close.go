package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepClose ends the loop of a consumer. Pop of a closed queue first returns the deltas that wait.
// Then it returns ErrFIFOClosed, and does not wait for more.
func stepClose(_ context.Context, env *play.Env) error {
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	ended := make(chan error)
	go func() {
		for {
			err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
				for _, delta := range deltas {
					p := delta.Object.(pod)
					fmt.Fprintf(env.Out, "%s : %s : %v\n", delta.Type, p.Name, p.Value)
				}
				return nil
			})
			if err != nil {
				ended <- err
				return
			}
		}
	}()

	for _, p := range []pod{{"pod1", 1}, {"pod2", 2}} {
		if err := queue.Add(p); err != nil {
			return err
		}
	}
	queue.Close()
	err := <-ended
	fmt.Fprintln(env.Out, "the loop ends:", err)
	fmt.Fprintln(env.Out, "because the queue was closed:", errors.Is(err, cache.ErrFIFOClosed))
	return nil
}
