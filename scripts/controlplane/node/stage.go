// The stages of a pod's life on the node, and how long a pod has been in one.

package node

import (
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

type stage int

const (
	done      stage = iota // ended, and nobody wants it deleted
	accepting              // just bound: to be accepted, its containers to be created
	starting               // its containers are being created
	running                // its containers run
	noticing               // to be deleted, not noticed yet
	stopping               // its containers are being stopped
	removing               // its containers have ended; to be removed
)

// stageOf returns the stage, from the pod alone.
func stageOf(pod *v1.Pod) stage {
	switch deleted := pod.DeletionTimestamp != nil; {
	case deleted && podutil.IsPodTerminal(pod):
		return removing
	case deleted && pod.Status.ObservedGeneration < pod.Generation:
		return noticing
	case deleted:
		return stopping
	case podutil.IsPodTerminal(pod):
		return done
	case pod.Status.Phase == v1.PodRunning:
		return running
	case pod.Status.StartTime == nil:
		return accepting
	default:
		return starting
	}
}

// podStages knows which pod goes by each name, and since when it has been in the
// stage that it is in.
type podStages struct {
	mu     sync.Mutex
	byName map[cache.ObjectName]podStage
}

type podStage struct {
	pod   types.UID
	stage stage
	since time.Time
}

func newPodStages() *podStages { return &podStages{byName: map[cache.ObjectName]podStage{}} }

// set gives the name to a pod, or to none, and returns the pod that has lost
// it, or "".
func (s *podStages) set(name cache.ObjectName, pod types.UID) types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.byName[name].pod
	switch {
	case before == pod:
		return ""
	case pod == "":
		delete(s.byName, name)
	default:
		s.byName[name] = podStage{pod: pod}
	}
	return before
}

// left is how much of the delay remains to the pod of this name in its stage,
// which begins when it is first asked about.
func (s *podStages) left(name cache.ObjectName, stage stage, delay time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := s.byName[name]
	if pod.stage != stage {
		pod.stage, pod.since = stage, time.Now()
		s.byName[name] = pod
	}
	return delay - time.Since(pod.since)
}
