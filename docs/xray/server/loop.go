// The pace of handlers, and of the loops that pop from a queue.

package server

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/docs/xray/recorder"
)

// A pace is how long each piece of work takes. It can change at any time.
type pace struct {
	ctx   context.Context // when it ends, all work ends
	delay atomic.Pointer[delay]
}

type delay struct {
	duration time.Duration
	replaced chan struct{} // closed when there is another delay
}

func newPace(ctx context.Context, duration time.Duration) *pace {
	p := &pace{ctx: ctx}
	p.delay.Store(&delay{duration, make(chan struct{})})
	return p
}

// setDuration changes how long work takes, including the work that goes on now.
func (p *pace) setDuration(duration time.Duration) {
	old := p.delay.Swap(&delay{duration, make(chan struct{})})
	close(old.replaced)
}

// work does nothing for as long as the pace says.
func (p *pace) work() {
	for {
		d := p.delay.Load()
		if d.duration == 0 {
			return
		}
		select {
		case <-time.After(d.duration):
			return
		case <-p.ctx.Done():
			return
		case <-d.replaced: // the work begins again, with the new delay
		}
	}
}

// A pacedQueue is a queue whose loop takes its time before it pops. It works before the pop, and not
// in it, so that what waits is seen to wait, and the reflector does not wait for a lock.
type pacedQueue struct {
	*recorder.ObservedQueue
	pace *pace
}

// Pop implements informer.Queue.
func (q pacedQueue) Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error {
	if q.Wait() {
		q.pace.work()
	}
	return q.ObservedQueue.Pop(process)
}
