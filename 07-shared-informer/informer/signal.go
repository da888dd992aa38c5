package informer

import "sync/atomic"

// A signal can be waited for by any number of goroutines. Sending it costs next to nothing while
// none of them waits.
type signal struct{ waiting atomic.Pointer[chan struct{}] }

// next returns a channel that the next send closes.
func (s *signal) next() <-chan struct{} {
	for {
		if waiting := s.waiting.Load(); waiting != nil {
			return *waiting
		}
		waiting := make(chan struct{})
		s.waiting.CompareAndSwap(nil, &waiting)
	}
}

func (s *signal) send() {
	if s.waiting.Load() != nil {
		if waiting := s.waiting.Swap(nil); waiting != nil { // nil: another goroutine sends, too
			close(*waiting)
		}
	}
}
