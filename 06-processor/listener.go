package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"example.com/informer/06-processor/processor"
)

// listener brings pods through one listener. The add side is this function,
// which never waits; the run side is a goroutine that calls the handler.
func listener(ctx context.Context, out io.Writer) error {
	fanout := processor.NewChannels()
	listener := fanout.Listen(nil)
	var running sync.WaitGroup
	defer running.Wait()
	defer listener.Close() // ends the run side

	come := func(name string) {
		fmt.Fprintf(out, "# %s comes\n", name)
		fanout.Distribute(added(newPod(name, "Pending")))
	}
	come("pod1")
	come("pod2")
	fmt.Fprintf(out, "nobody runs yet, waiting : %d\n", listener.Waiting())

	lines := newLines()
	running.Go(func() { run(listener, lines) })
	if err := show(ctx, out, 2, lines); err != nil {
		return err
	}
	for _, name := range []string{"pod3", "pod4", "pod5"} {
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return err
		}
		come(name)
		if err := show(ctx, out, 1, lines); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "waiting : %d\n", listener.Waiting())
	return nil
}

// run is the run side, until the listener is closed. In this step all that
// happens is that pods come.
func run(listener processor.Listener, lines chan<- string) {
	handler := writer("handler", lines)
	for batch := listener.Next(); batch != nil; batch = listener.Next() {
		for _, n := range batch {
			handler.OnAdd(n.New, n.Initial)
		}
	}
}
