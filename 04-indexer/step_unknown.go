package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/step"
)

// stepUnknown reads a value and an index that do not exist, and adds an index under a name that is
// taken: the store returns nothing, or an error. Then it gives a store an index function that fails:
// the store panics.
func stepUnknown(_ context.Context, env *step.Env) error {
	pod := newPod("ns1", "pod1", "l1")
	index := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": indexer.ByLabel("app")})
	if err := index.Add(pod); err != nil {
		return err
	}
	objects, err := index.ByIndex("app", "l9")
	fmt.Fprintf(env.Out, "no such value : %d objects, error: %v\n", len(objects), err)
	_, err = index.ByIndex("colour", "blue")
	fmt.Fprintln(env.Out, "no such index :", err)
	fmt.Fprintf(env.Out, "the values of no such index : %d, and no error\n", len(index.ListIndexFuncValues("colour")))
	err = index.AddIndexers(cache.Indexers{"app": indexer.ByImage})
	fmt.Fprintln(env.Out, "another index with the same name :", err)

	fmt.Fprintln(env.Out, "# an index function that fails for a pod")
	strict := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{"strict": func(any) ([]string, error) {
		return nil, errors.New("no colour")
	}})
	// Only for this step: a program that recovers from this panic has a broken index.
	recovered := func(call func() error) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		return call()
	}
	fmt.Fprintln(env.Out, "Add :", recovered(func() error { return strict.Add(pod) }))
	fmt.Fprintln(env.Out, "in the store all the same :", strict.ListKeys())
	fmt.Fprintln(env.Out, "Delete :", recovered(func() error { return strict.Delete(pod) }))
	fmt.Fprintln(env.Out, "in the store all the same :", strict.ListKeys())
	fmt.Fprintln(env.Out, "Replace with nothing :", strict.Replace(nil, ""))
	fmt.Fprintln(env.Out, "in the store :", strict.ListKeys())
	return nil
}
