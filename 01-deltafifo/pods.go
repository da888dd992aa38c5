// The toy pods that the steps put into queues.

package main

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// A pod has a name and a value that changes. A queue needs no more.
type pod struct {
	Name  string
	Value float64
}

// podKey returns the name of a pod. It refuses all other objects.
func podKey(obj any) (string, error) {
	p, ok := obj.(pod)
	if !ok {
		return "", fmt.Errorf("want a pod, got %T", obj)
	}
	return p.Name, nil
}

// knownPods are the pods that a consumer has popped and kept. It is the smallest type that a queue
// accepts as its KnownObjects.
type knownPods map[string]pod

// A queue calls only ListKeys and GetByKey. (Old tutorials have Get and List. These two methods do
// not make a KeyListerGetter.)
var _ cache.KeyListerGetter = knownPods{}

func (k knownPods) ListKeys() []string { return slices.Sorted(maps.Keys(k)) }

func (k knownPods) GetByKey(key string) (any, bool, error) {
	p, ok := k[key]
	return p, ok, nil
}
