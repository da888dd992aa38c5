package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/store"
	"example.com/informer/scripts/harness/step"
)

// stepRefused gives our store an index function that fails for some pods, and panics for others. A
// write of such a pod returns an error, and the store does not change.
func stepRefused(_ context.Context, env *step.Env) error {
	strict := func(obj any) ([]string, error) {
		switch app := obj.(*corev1.Pod).Labels["app"]; app {
		case "fails":
			return nil, errors.New("no colour")
		case "panics":
			panic("no colour at all")
		default:
			return []string{app}, nil
		}
	}
	pods := store.New(store.Options{Indexers: cache.Indexers{"strict": strict}})
	if err := pods.Add(newPod("ns1", "pod1", "blue")); err != nil {
		return err
	}
	show := func(write string, err error) {
		values := pods.ListIndexFuncValues("strict")
		fmt.Fprintf(env.Out, "%s : %v\nin the store : %v, in the index : %v\n", write, err, pods.ListKeys(), values)
	}
	show("Update", pods.Update(newPod("ns1", "pod1", "fails")))
	show("Add", pods.Add(newPod("ns1", "pod2", "panics")))
	show("Replace", pods.Replace([]any{newPod("ns1", "pod3", "red"), newPod("ns1", "pod4", "fails")}, ""))
	show("Delete", pods.Delete(newPod("ns1", "pod1", "fails"))) // only its key counts
	return nil
}
