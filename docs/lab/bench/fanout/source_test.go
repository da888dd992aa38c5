// Where the informers list and watch: a channel instead of a server.

package fanout

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// A source gives the first list the way servers do today and client-go asks for
// by default: over the watch, as adds with a bookmark at their end. All of it
// waits in the channel before the informer starts, and later events find room
// there, so that what is measured is the informer, not how fast a benchmark can
// wake it for each event. A real watch adds to both what this leaves out.
type source struct {
	*cache.ListWatch
	events chan watch.Event
}

// room is for events that the informer has not come to yet.
const room = 1024

func newSource(pods []*corev1.Pod) *source {
	s := &source{events: make(chan watch.Event, len(pods)+1+room)}
	s.ListWatch = &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
	for _, pod := range pods {
		s.send(watch.Added, pod)
	}
	s.send(watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: "1",
		Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}})
	return s
}

// send sends an event, and waits only where there is no room.
func (s *source) send(event watch.EventType, object runtime.Object) {
	s.events <- watch.Event{Type: event, Object: object}
}

// expire ends the watch as servers do when they no longer have the changes that
// the client asks for: with status 410. The informer has to list again.
func (s *source) expire() {
	status := apierrors.NewResourceExpired("the benchmark wants a relist").ErrStatus
	s.send(watch.Error, &status)
}

func (s *source) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return nil, errors.New("the first list comes over the watch, and there is no other")
}

func (s *source) watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return s, nil
}

// Stop and ResultChan make the source the one watch that it gives out.
func (s *source) Stop()                          {}
func (s *source) ResultChan() <-chan watch.Event { return s.events }
