package main

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// A slowWatch is an informer of the Secrets in the step's namespace. Between hold and release it
// gets no events from its watch, as on a slow network. Several steps use it. Their namespaces have
// no Secrets at first.
type slowWatch struct {
	*informer.Informer

	mu       sync.Mutex
	released chan struct{} // made by hold, closed by release; events pass when it is closed
}

func newSlowWatch(env *step.Env) *slowWatch {
	s := &slowWatch{released: make(chan struct{})}
	s.release()
	secrets := env.Client.CoreV1().Secrets(env.Namespace)
	s.Informer = informer.New(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return secrets.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := secrets.Watch(ctx, options)
			if err != nil {
				return nil, err
			}
			events := make(chan watch.Event)
			slow := watch.NewProxyWatcher(events)
			go s.pass(w, events, slow.StopChan())
			return slow, nil
		},
	}, &corev1.Secret{}, cache.SharedIndexInformerOptions{})
	return s
}

// pass sends the events of a watch to a channel. Each event waits for release.
func (s *slowWatch) pass(from watch.Interface, to chan<- watch.Event, stop <-chan struct{}) {
	defer close(to)
	defer from.Stop()
	for {
		select {
		case event, ok := <-from.ResultChan():
			if !ok {
				return
			}
			s.mu.Lock()
			released := s.released
			s.mu.Unlock()
			select {
			case <-released:
			case <-stop:
				return
			}
			select {
			case to <- event:
			case <-stop:
				return
			}
		case <-stop:
			return
		}
	}
}

// hold stops the events of the watch.
func (s *slowWatch) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = make(chan struct{})
}

// release lets the events pass that have come since hold.
func (s *slowWatch) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.released)
}
