package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/informer/06-processor/processor"
)

// shared tells two handlers of one pod's life. It distributes each event once.
func shared(ctx context.Context, out io.Writer) error {
	pods := newSource(processor.NewLog())
	defer pods.Stop()
	one, other := newLines(), newLines()
	if _, err := pods.join(writer("first", one), processor.Options{}); err != nil {
		return err
	}
	if _, err := pods.join(writer("second", other), processor.Options{}); err != nil {
		return err
	}

	fmt.Fprintln(out, "# pod1 comes, runs, and goes")
	pods.set("pod1", "Pending")
	pods.set("pod1", "Running")
	pods.remove("pod1")
	return errors.Join(show(ctx, out, 3, one), show(ctx, out, 3, other))
}
