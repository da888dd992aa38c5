package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepKind reads one pod out of three stores. In the first one the pod has lost
// its kind; there are three ways to know it all the same.
func stepKind(ctx context.Context, l *step.Lesson) error {
	pods := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "pods", l.Namespace, fields.Everything())
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	resource := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(l.Namespace)
	untypedPods := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: resource.Watch,
	}

	typed := cache.NewStore(cache.MetaNamespaceKeyFunc)
	transformed := cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithTransformer(addKind))
	untyped := cache.NewStore(cache.MetaNamespaceKeyFunc)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { cache.NewReflector(pods, &corev1.Pod{}, typed, 0).RunWithContext(ctx) }) // no queue
	running.Go(func() { cache.NewReflector(pods, &corev1.Pod{}, transformed, 0).RunWithContext(ctx) })
	running.Go(func() { cache.NewReflector(untypedPods, &unstructured.Unstructured{}, untyped, 0).RunWithContext(ctx) })
	if err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) {
			return len(typed.List()) == 1 && len(transformed.List()) == 1 && len(untyped.List()) == 1, nil
		}); err != nil {
		return fmt.Errorf("waiting for the pod in three stores: %w", err)
	}

	pod := typed.List()[0].(*corev1.Pod)
	fmt.Fprintf(l.Out, "as it is : apiVersion %q, kind %q\n", pod.APIVersion, pod.Kind)
	kinds, _, err := scheme.Scheme.ObjectKinds(pod)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.Out, "the scheme knows it by its Go type : %s %s\n", kinds[0].GroupVersion(), kinds[0].Kind)
	fmt.Fprintln(l.Out, "a transform has put it there :", transformed.List()[0].(*corev1.Pod).Kind)
	object := untyped.List()[0].(*unstructured.Unstructured)
	fmt.Fprintf(l.Out, "an unstructured object never lost it : %s, in a %T\n", object.GetKind(), object)
	return nil
}

// addKind is a cache.TransformFunc. It gets an object before anybody else has
// it, so it may change it.
func addKind(obj any) (any, error) {
	object, ok := obj.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("want an object with a kind, got %T", obj)
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	if len(kinds) != 1 {
		return nil, fmt.Errorf("%T stands for %d kinds: %v", obj, len(kinds), kinds)
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	return object, nil
}
