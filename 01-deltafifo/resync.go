package main

import (
	"context"
	"fmt"
	"io"
)

// resync replays what the consumer has. pod2 is left out: it waits already,
// with news that is younger than what is on the shelf.
func resync(_ context.Context, out io.Writer) error {
	queue := newQueue(shelf{"pod1": pod1, "pod2": pod2, "pod3": pod3})
	if err := queue.Update(pod{"pod2", 2.2}); err != nil {
		return err
	}
	fmt.Fprintln(out, "# resync: no server was asked, there is none")
	if err := queue.Resync(); err != nil {
		return err
	}
	return showAll(out, queue)
}
