package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/informer/06-processor/processor"
)

// late lets a handler join a processor that has been running for a while. It
// gets the present state as adds, then what follows: nothing is missing,
// nothing comes twice.
func late(ctx context.Context, out io.Writer) error {
	pods := newSource(processor.NewLog())
	defer pods.Stop()
	pods.Synced() // there was nothing in the list
	early, joined := newLines(), newLines()
	if _, err := pods.join(writer("early", early), processor.Options{}); err != nil {
		return err
	}
	fmt.Fprintln(out, "# pod1 and pod2 come, and pod1 runs")
	pods.set("pod1", "Pending")
	pods.set("pod2", "Pending")
	pods.set("pod1", "Running")
	if err := show(ctx, out, 3, early); err != nil {
		return err
	}

	fmt.Fprintln(out, "# a handler joins")
	registration, err := pods.join(writer("late", joined), processor.Options{})
	if err != nil {
		return err
	}
	select {
	case <-registration.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	fmt.Fprintf(out, "late has synced; calls by then : %d\n", len(joined))
	if err := show(ctx, out, 2, joined); err != nil {
		return err
	}

	fmt.Fprintln(out, "# pod2 goes, pod3 comes")
	pods.remove("pod2")
	pods.set("pod3", "Pending")
	return errors.Join(show(ctx, out, 2, early), show(ctx, out, 2, joined))
}
