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

// A slowWatch is an informer of the Secrets in the step's namespace, which has none at
// first. Between hold and release its watch brings nothing, as on a slow network.
type slowWatch struct {
	*informer.Informer
	mu   sync.Mutex
	held chan struct{} // closed by release
}

func newSlowWatch(l *step.Lesson) *slowWatch {
	s := &slowWatch{}
	s.hold()
	s.release()
	secrets := l.Client.CoreV1().Secrets(l.Namespace)
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

// pass hands on the events of a watch, unless they are held.
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
			held := s.held
			s.mu.Unlock()
			select {
			case <-held:
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

func (s *slowWatch) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = make(chan struct{})
}

func (s *slowWatch) release() { close(s.held) }
