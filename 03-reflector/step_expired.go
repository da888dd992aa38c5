package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/scripts/harness/step"
)

// stepExpired lets a reflector resume its watch from a version that the server
// forgot long ago. The server answers with 410, and the reflector lists. What is
// printed is what it calls its store with.
func stepExpired(ctx context.Context, l *step.Lesson) error {
	var forgotten atomic.Bool
	configMaps := cache.NewFilteredListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		func(options *metav1.ListOptions) {
			options.FieldSelector = "metadata.name!=kube-root-ca.crt" // which every namespace has
			options.TimeoutSeconds = new(int64(3))                    // in the place of minutes
			if options.SendInitialEvents == nil && forgotten.Swap(false) {
				options.ResourceVersion = "1" // as after a long time without a connection
			}
		})
	l.On("the server forgets the version", func() { forgotten.Store(true) })
	reflector.New(reflector.Options{
		ListerWatcher: configMaps,
		Store:         printedCalls{l},
		ExpectedType:  &corev1.ConfigMap{},
		Observer: observer.Func(func(e observer.Event) {
			if e.Kind == observer.Expired {
				fmt.Fprintln(l.Out, "expired :", e.Err)
			}
		}),
	}).Run(ctx)
	return nil
}

// printedCalls is all that a reflector needs of a store.
type printedCalls struct{ *step.Lesson }

func (p printedCalls) Add(obj any) error    { return p.print("Add", obj) }
func (p printedCalls) Update(obj any) error { return p.print("Update", obj) }
func (p printedCalls) Delete(obj any) error { return p.print("Delete", obj) }
func (p printedCalls) Resync() error        { return nil }

func (p printedCalls) Replace(list []any, _ string) error { return p.print("Replace", list...) }

func (p printedCalls) print(call string, objs ...any) error {
	var names []string
	for _, obj := range objs {
		names = append(names, obj.(*corev1.ConfigMap).Name)
	}
	_, err := fmt.Fprintln(p.Out, call, ":", slices.Sorted(slices.Values(names)))
	return err
}
