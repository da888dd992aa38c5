package informer

import (
	"context"
	"runtime/debug"
	"sync"

	"k8s.io/klog/v2"
)

// goroutines run until their context ends. If one of them panics, all end, and wait panics with the
// same value. So the caller of RunWithContext can recover, wherever the panic was.
type goroutines struct {
	running  sync.WaitGroup
	cancel   context.CancelFunc // ends the context
	logger   klog.Logger
	once     sync.Once
	panicked any // the first panic
}

func (g *goroutines) start(f func()) {
	g.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.logger.Error(nil, "Observed a panic", "panic", p, "stacktrace", string(debug.Stack()))
				g.once.Do(func() { g.panicked = p })
				g.cancel()
			}
		}()
		f()
	})
}

func (g *goroutines) wait() {
	g.cancel()
	g.running.Wait()
	if g.panicked != nil {
		panic(g.panicked)
	}
}
