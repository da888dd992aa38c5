package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// unknown asks for what is not there, and then gives a store an index function
// that fails. The first is an error, or nothing at all; the second is a panic.
func unknown(_ context.Context, out io.Writer) error {
	index, err := newIndexer(cache.Indexers{"app": indexer.ByLabel("app")}, newPod("ns1", "pod1", "l1"))
	if err != nil {
		return err
	}
	objects, err := index.ByIndex("app", "l9")
	fmt.Fprintf(out, "no such value : %d objects, error: %v\n", len(objects), err)
	_, err = index.ByIndex("colour", "blue")
	fmt.Fprintln(out, "no such index :", err)
	fmt.Fprintf(out, "the values of no such index : %d, and no error\n", len(index.ListIndexFuncValues("colour")))

	fmt.Fprintln(out, "# an index function that fails for a pod")
	index, err = newIndexer(cache.Indexers{"strict": func(any) ([]string, error) {
		return nil, errors.New("no colour")
	}})
	if err != nil {
		return err
	}
	pod := newPod("ns1", "pod1", "l1")
	fmt.Fprintln(out, "Add :", survive(func() error { return index.Add(pod) }))
	showKeys(out, "in the store all the same", index.ListKeys())
	fmt.Fprintln(out, "Delete :", survive(func() error { return index.Delete(pod) }))
	showKeys(out, "in the store all the same", index.ListKeys())
	fmt.Fprintln(out, "Replace with nothing :", survive(func() error { return index.Replace(nil, "") }))
	showKeys(out, "in the store", index.ListKeys())
	return nil
}

// survive turns a panic into an error, for the sake of this step: a program
// that goes on after a panic of its store works with a broken index.
func survive(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return do()
}
