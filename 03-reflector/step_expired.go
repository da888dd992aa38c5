package main

import (
	"context"
	"fmt"
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

// stepExpired lets a reflector watch from a version that is too old. The API server answers with a
// real 410. Only the version is fake. A real version would be too old only after minutes. Version 1
// is always too old, because it is older than the resource.
func stepExpired(ctx context.Context, env *step.Env) error {
	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: env.Namespace + ".example.com", Version: "v1",
		Resource: "widgets"}).Namespace(env.Namespace)
	var old atomic.Bool
	env.On("the version becomes too old", func() { old.Store(true) })
	reflector.New(reflector.Options{
		ListerWatcher: &cache.ListWatch{
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
		},
		Store: &cache.FakeCustomStore{ // it stores nothing
			UpdateFunc: func(obj any) error {
				fmt.Fprintln(env.Out, "Update :", obj.(metav1.Object).GetName())
				return nil
			},
			ReplaceFunc: func(list []any, _ string) error {
				for _, obj := range list {
					fmt.Fprintln(env.Out, "Replace :", obj.(metav1.Object).GetName())
				}
				return nil
			},
		},
		Observer: observer.Func(func(event any) {
			if e, ok := event.(observer.Expired); ok {
				fmt.Fprintln(env.Out, "expired :", apierrors.ReasonForError(e.Err))
			}
		}),
	}).Run(ctx)
	return nil
}
