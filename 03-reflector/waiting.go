// Waiting for what a reflector does in its own time.

package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// listed waits until the reflector has its first list, so that what happens
// next reaches it as an event.
func listed(ctx context.Context, reflector *cache.Reflector) error {
	return eventually(ctx, func() (bool, error) { return reflector.LastSyncResourceVersion() != "", nil })
}

// eventually waits, for at most a minute, until done.
func eventually(ctx context.Context, done func() (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return done() })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return errors.New("what the step waits for did not come within a minute")
	}
	return err
}
