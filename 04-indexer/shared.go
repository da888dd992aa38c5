package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// shared changes an object that it got from a store: first a copy of it, which
// is right, then the object itself, after which the index is wrong.
func shared(ctx context.Context, out io.Writer) error {
	index, err := newIndexer(cache.Indexers{"app": indexer.ByLabel("app")}, newPod("ns1", "pod1", "l1"))
	if err != nil {
		return err
	}
	pod, err := getPod(index, "ns1/pod1")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "# a copy gets the label l2, and is stored")
	pod = pod.DeepCopy()
	pod.Labels["app"] = "l2"
	if err := errors.Join(index.Update(pod), showIndex(out, index, "app")); err != nil {
		return err
	}

	fmt.Fprintln(out, "# what is in the store gets the label l3, and is stored again")
	pod.Labels["app"] = "l3" // no copy: the store has this very pod
	if err := errors.Join(index.Update(pod), showIndex(out, index, "app")); err != nil {
		return err
	}

	fmt.Fprintln(out, "# it is deleted")
	if err := index.Delete(pod); err != nil {
		return err
	}
	objects, err := index.ByIndex("app", "l2")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "in the store : %d objects; under l2 : %v\n", len(index.List()), objects)
	return catch(ctx, out)
}

// underWatch is set in the environment of a process that is to run
// changeUnderWatch and nothing else.
const underWatch = "CHANGE_UNDER_WATCH"

// changeUnderWatch does in small what client-go's shared informers do: they show
// a mutation detector all that they store, and let it compare every second.
func changeUnderWatch() {
	detector := cache.NewCacheMutationDetector("pods")
	pod := newPod("ns1", "pod1", "l1")
	detector.AddObject(pod)
	pod.Labels["app"] = "l2"
	once := make(chan struct{})
	close(once)
	detector.Run(once) // it compares, and panics
}

// catch starts this program again with client-go's mutation detector, which is
// switched on by the environment only, and shows how it ends.
func catch(ctx context.Context, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "# export KUBE_CACHE_MUTATION_DETECTOR=true")
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), underWatch+"=1", "KUBE_CACHE_MUTATION_DETECTOR=true")
	said, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if strings.HasPrefix(line, "CACHE") || strings.HasPrefix(line, "panic:") {
			fmt.Fprint(out, line)
		}
	}
	fmt.Fprintln(out, "the program ends :", err)
	return ctx.Err()
}
