package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
)

// selectors narrow down what a ListWatch sees; the server does the choosing.
// To a watch, an object that stops matching is an object that is DELETED.
func selectors(ctx context.Context, s *kube.Session) error {
	for _, name := range []string{"web-1", "web-2", "db-1"} {
		if _, err := s.CreateConfigMap(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range []string{"web-1", "web-2"} {
		if err := label(ctx, s, name, "web"); err != nil {
			return err
		}
	}
	byLabel, byField := selected(s, "app=web", ""), selected(s, "", "metadata.name=db-1")
	listed, err := showSelected(ctx, s, "app=web", byLabel)
	if err != nil {
		return err
	}
	if _, err := showSelected(ctx, s, "metadata.name=db-1", byField); err != nil {
		return err
	}
	_, err = selected(s, "", "data.colour=blue").ListWithContext(ctx, metav1.ListOptions{})
	s.Printf("LIST data.colour=blue : %v\n", err)

	watcher, err := byLabel.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: listed})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	if err := label(ctx, s, "web-2", "db"); err != nil {
		return err
	}
	event, err := next(ctx, watcher)
	if err != nil {
		return err
	}
	s.Printf("WATCH app=web : %s : %s\n", event.Type, event.Object.(*corev1.ConfigMap).Name)
	return nil
}

// selected lists and watches the ConfigMaps that match; an empty selector
// matches everything.
func selected(s *kube.Session, labels, fields string) *cache.ListWatch {
	return cache.NewFilteredListWatchFromClient(s.Clientset.CoreV1().RESTClient(), "configmaps", s.Namespace,
		func(options *metav1.ListOptions) { options.LabelSelector, options.FieldSelector = labels, fields })
}

// showSelected prints what a ListWatch lists, and returns the list's version.
func showSelected(ctx context.Context, s *kube.Session, selector string,
	lw *cache.ListWatch) (version string, err error) {
	obj, err := lw.ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	list := obj.(*corev1.ConfigMapList)
	for _, cm := range list.Items {
		s.Printf("LIST %s : %s\n", selector, cm.Name)
	}
	return list.ResourceVersion, nil
}

// label sets the label app and prints the command for it.
func label(ctx context.Context, s *kube.Session, name, app string) error {
	s.Printf("# kubectl label --overwrite configmap %s app=%s\n", name, app)
	patch := fmt.Sprintf(`{"metadata":{"labels":{"app":%q}}}`, app)
	_, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).Patch(ctx, name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	return err
}
