// The many pods of the step stalled.

package main

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/06-processor/processor"
)

// A fleet is pods that change in turn. Each change gives one of them the next
// version.
type fleet struct {
	distribute func(processor.Notification)
	pods       [objects]*corev1.Pod
}

// newFleet distributes the first version of each pod.
func newFleet(distribute func(processor.Notification)) *fleet {
	f := &fleet{distribute: distribute}
	for i := range f.pods {
		f.pods[i] = version(i, 1)
		distribute(added(f.pods[i]))
	}
	return f
}

func version(pod, version int) *corev1.Pod {
	p := newPod(fmt.Sprintf("pod%02d", pod), "Running")
	p.ResourceVersion = strconv.Itoa(version)
	return p
}

// change distributes n updates.
func (f *fleet) change(n int) {
	for i := range n {
		pod := &f.pods[i%objects]
		old := *pod
		*pod = version(i%objects, i/objects+2)
		f.distribute(updated(old, *pod))
	}
}

// isKnownFrom is whether one who was told this knows each pod as it is, and
// was never told of an old one that he did not know.
func (f *fleet) isKnownFrom(told []processor.Notification) bool {
	known := map[string]any{}
	for _, n := range told {
		if n.Kind == processor.Updated && known[n.Key] != n.Old {
			return false
		}
		known[n.Key] = n.New
	}
	for _, pod := range f.pods {
		if known[key(pod)] != any(pod) {
			return false
		}
	}
	return true
}
