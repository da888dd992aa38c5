package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// A shelf is the smallest thing that a queue takes for KnownObjects: where a
// consumer keeps what it popped.
type shelf map[string]pod

// ListKeys and GetByKey are all that is asked of it. (Get and List, which old
// tutorials give theirs, do not make a KeyListerGetter.)
var _ cache.KeyListerGetter = shelf{}

func (s shelf) ListKeys() []string { return slices.Sorted(maps.Keys(s)) }

func (s shelf) GetByKey(key string) (any, bool, error) {
	p, ok := s[key]
	return p, ok, nil
}

// known deletes a pod that was popped already. Only a queue that can look at
// what its consumer kept has anything to say about it.
func known(_ context.Context, out io.Writer) error {
	for _, with := range []struct {
		title string
		known cache.KeyListerGetter
	}{
		{"# without known objects", nil},
		{"# with known objects", shelf{"pod1": pod1}},
	} {
		fmt.Fprintln(out, with.title)
		queue := newQueue(with.known)
		if err := queue.Add(pod1); err != nil {
			return err
		}
		if err := showAll(out, queue); err != nil {
			return err
		}
		if err := queue.Delete(pod1); err != nil {
			return err
		}
		fmt.Fprintln(out, "deleted; waiting now:", len(queue.List()))
		if err := showAll(out, queue); err != nil {
			return err
		}
	}
	return nil
}
