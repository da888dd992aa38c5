// The toy pods of the steps, and who tells a processor of them.

package main

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

func newPod(name string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func added(pod *corev1.Pod) processor.Notification {
	return processor.Notification{Kind: processor.Added, Key: key(pod), New: pod}
}

func updated(old, pod *corev1.Pod) processor.Notification {
	return processor.Notification{Kind: processor.Updated, Key: key(pod), Old: old, New: pod}
}

func deleted(pod *corev1.Pod) processor.Notification {
	return processor.Notification{Kind: processor.Deleted, Key: key(pod), Old: pod, New: pod}
}

func key(pod *corev1.Pod) string { return cache.MetaObjectToName(pod).String() }

// A source is what an informer is to its processor: it knows what there is, and
// distributes what becomes of it.
type source struct {
	*processor.Processor

	mu   sync.Mutex // held while a pod changes and this is distributed: nobody joins in between
	pods map[string]*corev1.Pod
}

// newSource starts a processor that has no handler yet.
func newSource(fanout processor.Fanout) *source {
	s := &source{Processor: processor.New(fanout), pods: map[string]*corev1.Pod{}}
	s.Start()
	return s
}

// join adds a handler. It is told of the pods that there are, in the order of
// their names, and then of what follows.
func (s *source) join(handler cache.ResourceEventHandler, options processor.Options) (*processor.Registration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var present []processor.Notification
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		n := added(s.pods[name])
		n.Initial = true
		present = append(present, n)
	}
	return s.Add(handler, options, present...)
}

// set makes a pod, or changes it.
func (s *source) set(name string, phase corev1.PodPhase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod, n := newPod(name, phase), processor.Notification{}
	if old, ok := s.pods[name]; ok {
		n = updated(old, pod)
	} else {
		n = added(pod)
	}
	s.pods[name] = pod
	s.Distribute(n)
}

func (s *source) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := s.pods[name]
	delete(s.pods, name)
	s.Distribute(deleted(pod))
}
