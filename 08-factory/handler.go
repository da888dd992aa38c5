// What the steps have in common: a handler that prints its calls, the names of
// what a lister gives, and a factory that runs.

package main

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
)

// calls returns a handler that prints what happens, one line a call, with its
// own name in front. Of the first list it says nothing.
func calls(printf func(string, ...any), name string) cache.ResourceEventHandler {
	tell := func(call string, obj any) {
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = gone.Obj
		}
		if object, ok := obj.(metav1.Object); ok { // a tombstone can be empty
			printf("%s : %s : %s\n", name, call, object.GetName())
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if !isInInitialList {
				tell("OnAdd", obj)
			}
		},
		UpdateFunc: func(_, obj any) { tell("OnUpdate", obj) },
		DeleteFunc: func(obj any) { tell("OnDelete", obj) },
	}
}

// names are those of objects that a lister gave, sorted. (That a lister of an
// informer's store also returns an error has no reason but its interface's.)
func names[T any](objs []T, _ error) string {
	var names []string
	for _, obj := range objs {
		names = append(names, any(obj).(metav1.Object).GetName())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// start starts all informers that the factory was asked for, and waits until
// they have their first lists.
func start(ctx context.Context, f *factory.Factory) error {
	f.Start(ctx)
	return f.WaitForCacheSync(ctx)
}
