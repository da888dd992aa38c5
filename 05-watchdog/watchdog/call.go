// The calls of the handler.

package watchdog

import (
	"fmt"
	"runtime/debug"
)

// A call is one call of the handler that is ready to be made.
type call struct {
	method string // OnAdd, OnUpdate or OnDelete
	key    string // of the object
	run    func()
}

// deliver makes a call, and reports a panic of the handler. A handler can also end this goroutine
// (runtime.Goexit). Then the call stays in inFlight.
func (w *WatchDog) deliver(c *call) {
	w.inFlight.Store(c)
	defer func() {
		if p := recover(); p != nil {
			w.inFlight.Store(nil)
			w.opts.OnError(fmt.Errorf("the handler panicked in %s of %s: %v\n%s", c.method, c.key, p, debug.Stack()))
		}
	}()
	c.run()
	w.inFlight.Store(nil)
}

// checkCalls is called when all goroutines have ended. A call that is still in inFlight has never
// returned: its handler has ended the goroutine.
func (w *WatchDog) checkCalls() error {
	if c := w.inFlight.Load(); c != nil {
		return fmt.Errorf("the handler has ended its goroutine in %s of %s (runtime.Goexit): "+
			"nothing more is stored, and no further call is made", c.method, c.key)
	}
	return nil
}

// stopTimeoutError is the error of a Run that has waited for StopTimeout.
func (w *WatchDog) stopTimeoutError() error {
	if c := w.inFlight.Load(); c != nil {
		return fmt.Errorf("stopping: the handler has not returned from %s of %s after %v, and is left behind",
			c.method, c.key, w.opts.StopTimeout)
	}
	return fmt.Errorf("stopping: the ListerWatcher of %T has not returned after %v, and is left behind",
		w.opts.ObjectType, w.opts.StopTimeout)
}
