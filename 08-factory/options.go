package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/08-factory/factory"
)

// withOptions looks at one namespace, at what has the label app=web, without
// the managed fields; and is told of pods again, once a second.
func withOptions(ctx context.Context, s *kube.Session) error {
	if err := errors.Join(createPod(ctx, s, "web", "web"), createPod(ctx, s, "db", "db")); err != nil {
		return err
	}
	f := factory.New(s.Clientset, factory.Options{
		Namespace: s.Namespace,
		Tweak:     func(options *metav1.ListOptions) { options.LabelSelector = "app=web" },
		Transform: withoutManagedFields,
		ResyncFor: map[schema.GroupVersionResource]time.Duration{factory.Pods: time.Second},
	})
	defer f.Shutdown()
	pods := f.Pods()
	again := make(chan struct{}, 100)
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(oldObj, newObj any) {
			if oldObj == newObj {
				again <- struct{}{}
			}
		},
		DeleteFunc: func(any) { s.Printf("pods : OnDelete : web\n") },
	}); err != nil {
		return err
	}
	if err := start(ctx, f); err != nil {
		return err
	}
	s.Printf("in the store : %s\n", names(pods.Lister().List(labels.Everything())))
	if err := compare(ctx, s, f); err != nil {
		return err
	}
	for range 2 {
		select {
		case <-again:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.Printf("after two seconds : told of it twice more\n")
	if err := labelPod(ctx, s, "web", "db"); err != nil {
		return err
	}
	return s.WaitPrinted(ctx, "OnDelete : web")
}

// withoutManagedFields takes out what few programs read, and every object has.
func withoutManagedFields(obj any) (any, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	object.SetManagedFields(nil)
	return obj, nil
}

// compare holds the pod in the store against the one at the server.
func compare(ctx context.Context, s *kube.Session, f *factory.Factory) error {
	stored, err := f.Pods().Lister().Pods(s.Namespace).Get("web")
	if err != nil {
		return err
	}
	there, err := s.Clientset.CoreV1().Pods(s.Namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	s.Printf("managed fields : at the server: %t, in the store: %t\n",
		len(there.ManagedFields) > 0, len(stored.ManagedFields) > 0)
	return nil
}
