package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/scripts/harness/step"
)

// stepExpired lets a reflector resume its watch from a version that the server
// does not have: it is older than the resource's definition. The server answers
// with 410, and the reflector lists. What is printed is what it calls its store with.
func stepExpired(ctx context.Context, l *step.Lesson) error {
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: l.Namespace + ".example.com", Version: "v1",
		Resource: "widgets"}).Namespace(l.Namespace)
	var old atomic.Bool
	l.On("the version becomes too old", func() { old.Store(true) })
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return widgets.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.TimeoutSeconds = new(int64(3)) // not minutes
			if options.SendInitialEvents == nil && old.Swap(false) {
				options.ResourceVersion = "1"
			}
			return widgets.Watch(ctx, options)
		},
	}
	reflector.New(reflector.Options{
		ListerWatcher: listWatch,
		Store:         printedCalls{l},
		Observer: observer.Func(func(e observer.Event) {
			if e.Kind == observer.Expired {
				fmt.Fprintln(l.Out, "expired :", apierrors.ReasonForError(e.Err))
			}
		}),
	}).Run(ctx)
	return nil
}

// printedCalls has the five methods of a store that a reflector needs. It prints
// what it is called with.
type printedCalls struct{ *step.Lesson }

func (p printedCalls) Add(obj any) error    { return p.print("Add", obj) }
func (p printedCalls) Update(obj any) error { return p.print("Update", obj) }
func (p printedCalls) Delete(obj any) error { return p.print("Delete", obj) }
func (p printedCalls) Resync() error        { return nil }

func (p printedCalls) Replace(list []any, _ string) error { return p.print("Replace", list...) }

func (p printedCalls) print(call string, objs ...any) error {
	var names []string
	for _, obj := range objs {
		names = append(names, obj.(metav1.Object).GetName())
	}
	_, err := fmt.Fprintln(p.Out, call, ":", slices.Sorted(slices.Values(names)))
	return err
}
