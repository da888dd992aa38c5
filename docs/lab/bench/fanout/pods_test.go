// The pods that the benchmarks watch.

package fanout

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

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
