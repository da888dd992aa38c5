// The source of the informers, a channel instead of a server, and the pods in it.

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// A source sends the first list over the watch, as adds with a bookmark at the end. This is what
// client-go requests by default. The whole list waits in the channel before the informer starts,
// and the channel has room for later events. So a benchmark measures the informer, and not how fast
// the benchmark can wake the informer for each event. A real watch costs both informers the same
// time on top.
type source struct {
	*cache.ListWatch
	events chan watch.Event
}

// room is the number of events that can wait in a source after the first list.
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

// send sends an event. It blocks only if the source has no room.
func (s *source) send(event watch.EventType, object runtime.Object) {
	s.events <- watch.Event{Type: event, Object: object}
}

// expire ends the watch with status 410, as a server that no longer has the changes after the
// client's version. The informer has to list again.
func (s *source) expire() {
	status := apierrors.NewResourceExpired("the benchmark wants a relist").ErrStatus
	s.send(watch.Error, &status)
}

func (s *source) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return nil, errors.New("this source sends its list over the watch only")
}

func (s *source) watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return s, nil
}

// Stop and ResultChan make the source a watch.Interface: it is the only watch that it returns.
func (s *source) Stop()                          {}
func (s *source) ResultChan() <-chan watch.Event { return s.events }

// versions is the number of versions of each pod: one for the list, and two that take turns as
// updates. An update never has the same resourceVersion as the update before it, so that no
// informer takes it for a resync.
const versions = 3

// pods are all versions of all pods. They are made before the clock runs: a decoder takes the same
// time for every informer, and is not part of it.
type pods [versions][]*corev1.Pod

func makePods(objects int) *pods {
	var all pods
	for version := range all {
		all[version] = makeVersion(objects, version)
	}
	return &all
}

// largeStore returns the number of pods of a benchmark with a large store.
func largeStore() int { return scaled(100_000) }

// scaled returns a number of pods. With -short, a large one is a tenth of what the name of the benchmark
// says: large enough to see that the benchmark works.
func scaled(objects int) int {
	if testing.Short() && objects > 1000 {
		return objects / 10
	}
	return objects
}

// makeVersion returns one version of each pod.
func makeVersion(objects, version int) []*corev1.Pod {
	all := make([]*corev1.Pod, objects)
	for i := range all {
		all[i] = newPod(i, version*objects+i+1)
	}
	return all
}

// update returns the k-th update. The pods take turns.
func (p *pods) update(k int) *corev1.Pod {
	objects := len(p[0])
	return p[1+k/objects%(versions-1)][k%objects]
}

// The numbers of namespaces and of values of the label app. All have the same number of pods.
const (
	namespaces = 10
	apps       = 100
)

// namespace returns the namespace of the i-th pod.
func namespace(i int) string { return "ns-" + strconv.Itoa(i%namespaces) }

// newPod returns a small pod that shares no memory with another one, as if it had just been
// decoded. BenchmarkStalled reports its size.
func newPod(i, resourceVersion int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       namespace(i),
			Name:            fmt.Sprintf("pod-%06d", i),
			UID:             types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)),
			ResourceVersion: strconv.Itoa(resourceVersion),
			Labels:          map[string]string{"app": "app-" + strconv.Itoa(i%apps)},
		},
		Spec:   corev1.PodSpec{NodeName: "node-" + strconv.Itoa(i%50)},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}
