package main

import (
	"context"
	"io"

	"k8s.io/client-go/tools/cache"
)

// realfifo puts the same history into client-go's RealFIFO: five pops in the
// order of arrival, one delta each, and no grouping.
func realfifo(_ context.Context, out io.Writer) error {
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction:  podKey,
		KnownObjects: shelf{}, // required, unless AtomicEvents is set
	})
	if err := history(queue); err != nil {
		return err
	}
	return showRest(out, queue)
}
