// Package history holds informers to the truth, in tests: what happened to each
// object on the server, what an informer told of it, and whether the one can be
// the truth about the other.
package history

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A state is an object at one moment of its life on the server.
type state struct {
	uid     types.UID
	version string
	value   string
	over    bool // the object was deleted; its version then is not known to us
}

func stateOf(configMap *corev1.ConfigMap) state {
	return state{uid: configMap.UID, version: configMap.ResourceVersion, value: configMap.Data["value"]}
}

// histories are what happened to the objects of each name, in order. Each name
// is written by one goroutine.
type histories struct {
	mu     sync.Mutex
	byName map[string][]state
}

func (h *histories) add(name string, s state) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byName == nil {
		h.byName = map[string][]state{}
	}
	h.byName[name] = append(h.byName[name], s)
}
