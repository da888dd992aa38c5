// Where the informers list and watch: a channel instead of a server; and the pods
// that they watch.

package fanout

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

// versions is how many versions of each pod are made beforehand: one to be
// listed, and two that take turns as updates. An update never has the
// resourceVersion that it follows, so that nobody may take it for a resync.
const versions = 3

// pods is version by version, pod by pod, all made before the clock runs: what
// a decoder costs is the same for every informer and none of its work.
type pods [versions][]*corev1.Pod

func makePods(objects int) *pods {
	var all pods
	for version := range all {
		all[version] = makeVersion(objects, version)
	}
	return &all
}

// many is how many pods there are where a benchmark is about a large store. With
// -short there are fewer than its name says: enough to see that it works.
func many() int {
	if testing.Short() {
		return 10_000
	}
	return 100_000
}

// makeVersion makes one version of each pod.
func makeVersion(objects, version int) []*corev1.Pod {
	all := make([]*corev1.Pod, objects)
	for i := range all {
		all[i] = newPod(i, version*objects+i+1)
	}
	return all
}

// update is the k-th update: the pods take turns.
func (p *pods) update(k int) *corev1.Pod {
	objects := len(p[0])
	return p[1+k/objects%(versions-1)][k%objects]
}

// namespaces and apps are how many there are: each has as many pods as another.
const (
	namespaces = 10
	apps       = 100
)

// namespace is that of a pod.
func namespace(i int) string { return "ns-" + strconv.Itoa(i%namespaces) }

// newPod makes a small pod that shares no memory with another, as if it had
// just been decoded. BenchmarkStalled reports its size.
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
