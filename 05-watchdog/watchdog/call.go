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

// deliver makes a call. It survives a handler that panics. It does not survive one that
// ends this goroutine (runtime.Goexit): that call stays under way.
func (w *WatchDog) deliver(c *call) {
	w.underway.Store(c)
	defer func() {
		if p := recover(); p != nil {
			w.underway.Store(nil)
			w.opts.OnError(fmt.Errorf("the handler panicked in %s of %s: %v\n%s", c.method, c.key, p, debug.Stack()))
		}
	}()
	c.run()
	w.underway.Store(nil)
}

// checkCalls returns an error if a call has never come to its end, though no goroutine is
// left.
func (w *WatchDog) checkCalls() error {
	if c := w.underway.Load(); c != nil {
		return fmt.Errorf("the handler has ended its goroutine in %s of %s (runtime.Goexit): "+
			"nothing more is stored, and no further call is made", c.method, c.key)
	}
	return nil
}

func (w *WatchDog) leftBehind() error {
	if c := w.underway.Load(); c != nil {
		return fmt.Errorf("stopping: the handler has not returned from %s of %s after %v, and is left behind",
			c.method, c.key, w.opts.StopTimeout)
	}
	return fmt.Errorf("stopping: the ListerWatcher of %T has not returned after %v, and is left behind",
		w.opts.ObjectType, w.opts.StopTimeout)
}
