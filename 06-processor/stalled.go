package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/06-processor/processor"
)

const (
	objects = 100
	updates = 100_000
)

// stalled has a handler that is told of 100 pods and then does not come back
// for more, while each of them changes 1,000 times.
func stalled(ctx context.Context, out io.Writer) error {
	for _, way := range ways {
		fmt.Fprintf(out, "# %s: %d pods come, and then a handler is stuck\n", way.name, objects)
		fanout := way.newFanout()
		listener := fanout.Listen(nil)
		fleet := newFleet(fanout.Distribute)
		told := take(listener, objects) // version 1 of each
		fleet.change(updates)
		fmt.Fprintf(out, "# %d updates\nwaiting : %d\n# the handler wakes\n", updates, listener.Waiting())
		told = append(told, take(listener, listener.Waiting())...)
		listener.Close()

		calls := told[objects:]
		showUpdate(out, calls[0])
		showUpdate(out, calls[1])
		fmt.Fprintf(out, "… %d calls more …\n", len(calls)-4)
		showUpdate(out, calls[len(calls)-2])
		showUpdate(out, calls[len(calls)-1])
		fmt.Fprintf(out, "old was always what it had been told last, and it knows each pod as it is : %t\n",
			fleet.isKnownFrom(told))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// take does what a run side does, for n notifications, and writes them down.
func take(listener processor.Listener, n int) (told []processor.Notification) {
	for len(told) < n {
		told = append(told, listener.Next()...)
	}
	return told
}

func showUpdate(out io.Writer, n processor.Notification) {
	old, pod := n.Old.(*corev1.Pod), n.New.(*corev1.Pod)
	fmt.Fprintf(out, "OnUpdate : %s : version %s (was %s)\n", pod.Name, pod.ResourceVersion, old.ResourceVersion)
}
