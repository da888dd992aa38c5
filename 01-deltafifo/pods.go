// The toy pods that the steps put into queues.

package main

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// A pod has a name and something that changes; a queue needs no more.
type pod struct {
	Name  string
	Value float64
}

// podKey names a pod, and refuses everything else.
func podKey(obj any) (string, error) {
	p, ok := obj.(pod)
	if !ok {
		return "", fmt.Errorf("want a pod, got %T", obj)
	}
	return p.Name, nil
}

// knownPods is the smallest thing that a queue accepts as its KnownObjects: the
// pods that a consumer has popped and kept.
type knownPods map[string]pod

// ListKeys and GetByKey are all that a queue asks of it. (Get and List, which
// old tutorials give theirs, do not make a KeyListerGetter.)
var _ cache.KeyListerGetter = knownPods{}

func (k knownPods) ListKeys() []string { return slices.Sorted(maps.Keys(k)) }

func (k knownPods) GetByKey(key string) (any, bool, error) {
	p, ok := k[key]
	return p, ok, nil
}
