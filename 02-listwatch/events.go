// How the steps take events off a watch.

package main

import (
	"context"
	"errors"

	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// next returns the next event of a watch; an ERROR event becomes an error.
func next(ctx context.Context, watcher apiwatch.Interface) (apiwatch.Event, error) {
	select {
	case event, ok := <-watcher.ResultChan():
		if !ok {
			return event, errors.New("the server ended the watch early")
		}
		if event.Type == apiwatch.Error {
			return event, statusError(event)
		}
		return event, nil
	case <-ctx.Done():
		return apiwatch.Event{}, ctx.Err()
	}
}
