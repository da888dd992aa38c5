// The ConfigMaps of the load test, and the handlers that record them.

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
	sentAnnotation = "example.com/sent" // when a ConfigMap was sent, in nanoseconds since 1970
	payload        = 1024               // the length of a ConfigMap's text
)

// newConfigMap returns the n-th ConfigMap. Its annotation has the current time. Its text depends
// only on n, and is hard to compress.
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

// number returns the number and the version of a ConfigMap from the server.
func number(object *corev1.ConfigMap) (n int, version uint64, err error) {
	n, err = strconv.Atoi(strings.TrimPrefix(object.Name, namePrefix))
	if err != nil {
		return 0, 0, fmt.Errorf("%s is not a ConfigMap of the load test", object.Name)
	}
	version, err = strconv.ParseUint(object.ResourceVersion, 10, 64)
	return n, version, err
}

// sent returns when a ConfigMap was sent.
func sent(object *corev1.ConfigMap) time.Time {
	ns, _ := strconv.ParseInt(object.Annotations[sentAnnotation], 10, 64) // newConfigMap wrote it
	return time.Unix(0, ns)
}

// A handler records the last version of each object, and the lag of each change: the time from when
// it was sent until the handler was called.
type handler struct {
	mu       sync.Mutex
	versions []uint64        // by the object's number; 0 for an object that the handler has not seen
	lags     []time.Duration // of the changes since the last takeLags
}

// OnAdd implements cache.ResourceEventHandler.
func (h *handler) OnAdd(obj any, isInInitialList bool) { h.record(obj, !isInInitialList) }

// OnUpdate implements cache.ResourceEventHandler.
func (h *handler) OnUpdate(_, obj any) { h.record(obj, true) }

// OnDelete implements cache.ResourceEventHandler. The load test deletes no objects.
func (h *handler) OnDelete(any) {}

// record records an object, and its lag if it has changed. It ignores objects that are not of the
// load test.
func (h *handler) record(obj any, changed bool) {
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

// handlers are all handlers of one informer.
type handlers []*handler

// takeLags returns the lags of all handlers since the last call, shortest first, and forgets them.
func (hs handlers) takeLags() (all []time.Duration) {
	for _, h := range hs {
		h.mu.Lock()
		all = append(all, h.lags...)
		h.lags = nil
		h.mu.Unlock()
	}
	slices.Sort(all)
	return all
}

// missing returns how many objects were last seen in another version. It is the sum of all
// handlers.
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
