package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepKind gets a pod. The typed client has removed its kind. The step shows three ways to get the
// kind.
func stepKind(ctx context.Context, env *step.Env) error {
	pod, err := env.Client.CoreV1().Pods(env.Namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "as it is : apiVersion %q, kind %q\n", pod.APIVersion, pod.Kind)

	kinds, _, err := scheme.Scheme.ObjectKinds(pod)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "the scheme knows it by its Go type : %s %s\n", kinds[0].GroupVersion(), kinds[0].Kind)

	store := cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithTransformer(addKind))
	if err := store.Add(pod); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "a transform has put it there :", store.List()[0].(*corev1.Pod).Kind)

	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	object, err := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(env.Namespace).
		Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "an unstructured object never lost it : %s, in a %T\n", object.GetKind(), object)
	return nil
}

// addKind is a cache.TransformFunc that sets the kind of an object. It may change the object,
// because nobody else has the object yet.
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
