// One call of the handler: how it is made, and what is left of it.

package watchdog

import (
	"fmt"
	"runtime/debug"
)

// A call is one call of the handler, ready to be made.
type call struct {
	method, key string
	run         func()
}

// deliver makes a call. It survives a handler that panics.
func (w *WatchDog) deliver(c *call) {
	w.underway.Store(c)
	defer w.underway.Store(nil)
	defer func() {
		if p := recover(); p != nil {
			w.opts.OnError(fmt.Errorf("the handler panicked in %s of %s: %v\n%s", c.method, c.key, p, debug.Stack()))
		}
	}()
	c.run()
}

func (w *WatchDog) leftBehind() error {
	if c := w.underway.Load(); c != nil {
		return fmt.Errorf("stopping: the handler has not returned from %s of %s after %v, and is left behind",
			c.method, c.key, w.opts.StopTimeout)
	}
	return fmt.Errorf("stopping: the ListerWatcher of %T has not returned after %v, and is left behind",
		w.opts.ObjectType, w.opts.StopTimeout)
}
