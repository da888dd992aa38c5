package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// kind reads a pod out of stores. In the ordinary one the pod has lost its kind;
// there are three ways to know it all the same.
func kind(ctx context.Context, s *kube.Session) error {
	if err := s.CreateGatedPod(ctx, "web"); err != nil {
		return err
	}
	read := func(lw cache.ListerWatcher, of runtime.Object, options ...cache.StoreOption) (runtime.Object, error) {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc, options...)
		defer flow.Start(ctx, cache.NewReflector(lw, of, store, 0))() // no queue: a reflector fills stores too
		if err := flow.Until(ctx, "the pod", func() bool { return len(store.List()) == 1 }); err != nil {
			return nil, err
		}
		return store.List()[0].(runtime.Object), nil
	}
	pod, err := read(s.Pods(), &corev1.Pod{})
	if err != nil {
		return err
	}
	apiVersion, kind := pod.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	s.Printf("as it is : apiVersion %q, kind %q\n", apiVersion, kind)

	gvk, err := kindOf(pod)
	if err != nil {
		return err
	}
	s.Printf("the scheme knows it by its Go type : %s %s\n", gvk.GroupVersion(), gvk.Kind)

	if pod, err = read(s.Pods(), &corev1.Pod{}, cache.WithTransformer(addKind)); err != nil {
		return err
	}
	s.Printf("a transform has put it there : %s\n", pod.GetObjectKind().GroupVersionKind().Kind)

	if pod, err = read(untypedPods(s), &unstructured.Unstructured{}); err != nil {
		return err
	}
	s.Printf("an unstructured object never lost it : %s, in a %T\n", pod.GetObjectKind().GroupVersionKind().Kind, pod)
	return nil
}

// kindOf asks the scheme for the one kind that the object's Go type stands for.
func kindOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	if len(kinds) != 1 {
		return schema.GroupVersionKind{}, fmt.Errorf("%T stands for %d kinds: %v", obj, len(kinds), kinds)
	}
	return kinds[0], nil
}

// addKind is a cache.TransformFunc: it gets an object before anybody else has
// it, so it may change it.
func addKind(obj any) (any, error) {
	object, ok := obj.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("want an object with a kind, got %T", obj)
	}
	gvk, err := kindOf(object)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object, nil
}

// untypedPods lists and watches the pods of the session's namespace as maps.
func untypedPods(s *kube.Session) *cache.ListWatch {
	pods := s.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(s.Namespace)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return pods.List(ctx, options)
		},
		WatchFuncWithContext: pods.Watch,
	}
}
