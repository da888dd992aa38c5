// The ConfigMaps that are watched, and what a handler does: it notes what it sees.

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	namespace      = "load"
	namePrefix     = "settings-"
	sentAnnotation = "example.com/sent" // nanoseconds since 1970
	payload        = 1024
)

// newConfigMap returns the n-th ConfigMap, sent now. Its text is always the same
// for n, and nothing that could be compressed much.
func newConfigMap(n int) *corev1.ConfigMap {
	random, text := rand.New(rand.NewPCG(uint64(n), 0)), make([]byte, payload)
	for i := range text {
		text[i] = byte('!' + random.IntN('~'-'!'))
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   namespace,
			Name:        fmt.Sprintf("%s%06d", namePrefix, n),
			Annotations: map[string]string{sentAnnotation: strconv.FormatInt(time.Now().UnixNano(), 10)},
		},
		Data: map[string]string{"text": string(text)},
	}
}

// number and version of a ConfigMap that a server has stored.
func number(object *corev1.ConfigMap) (n int, version uint64, err error) {
	n, err = strconv.Atoi(strings.TrimPrefix(object.Name, namePrefix))
	if err != nil {
		return 0, 0, fmt.Errorf("%s is none of our ConfigMaps", object.Name)
	}
	version, err = strconv.ParseUint(object.ResourceVersion, 10, 64)
	return n, version, err
}

// sent says when a ConfigMap was sent.
func sent(object *corev1.ConfigMap) time.Time {
	ns, _ := strconv.ParseInt(object.Annotations[sentAnnotation], 10, 64) // newConfigMap wrote it
	return time.Unix(0, ns)
}

// A handler notes the last version of each object, and how long each change took
// to come.
type handler struct {
	mu       sync.Mutex
	versions []uint64        // by the object's number; 0 if it is not there
	lags     []time.Duration // since they were last taken
}

func (h *handler) OnAdd(obj any, isInInitialList bool) { h.note(obj, !isInInitialList) }

func (h *handler) OnUpdate(_, obj any) { h.note(obj, true) }

// OnDelete is never called: nobody deletes under this load.
func (h *handler) OnDelete(any) {}

// note leaves out what is none of our objects, which missing will miss.
func (h *handler) note(obj any, changed bool) {
	entered := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	object := obj.(*corev1.ConfigMap)
	n, version, err := number(object)
	if err != nil || n >= len(h.versions) {
		return
	}
	h.versions[n] = version
	if changed {
		h.lags = append(h.lags, entered.Sub(sent(object)))
	}
}

// handlers are all that one informer notifies.
type handlers []*handler

// lags takes what was noted since the last time, of all handlers, in order.
func (hs handlers) lags() (all []time.Duration) {
	for _, h := range hs {
		h.mu.Lock()
		all = append(all, h.lags...)
		h.lags = nil
		h.mu.Unlock()
	}
	slices.Sort(all)
	return all
}

// missing is how many objects were last seen in another version, by all handlers
// together.
func (hs handlers) missing(versions []uint64) (n int) {
	for _, h := range hs {
		h.mu.Lock()
		for i, version := range versions {
			if h.versions[i] != version {
				n++
			}
		}
		h.mu.Unlock()
	}
	return n
}
