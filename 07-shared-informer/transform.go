package main

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/07-shared-informer/informer"
)

// withoutManagedFields takes out what the server notes about who wrote which
// field: few programs read it, and every object has it. The object is fresh
// from the server and nobody else's yet, so it may be changed.
func withoutManagedFields(obj any) (any, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	object.SetManagedFields(nil)
	return obj, nil
}

// transform compares an object in the store with the same at the server.
func transform(ctx context.Context, s *kube.Session) error {
	configMaps := informer.New(s.OwnConfigMaps(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	if err := configMaps.SetTransform(withoutManagedFields); err != nil {
		return err
	}
	if _, err := configMaps.AddEventHandler(named(s.Printf, "told", calls.Data)); err != nil {
		return err
	}
	stop, err := start(ctx, configMaps)
	if err != nil {
		return err
	}
	defer stop()
	if err := play(ctx, s,
		act{func() error { return s.CreateConfigMapWith(ctx, "weather", "sky", "blue") }, "OnAdd : weather"},
		act{func() error { return s.PatchConfigMap(ctx, "weather", "sky", "grey") }, "OnUpdate : weather"},
	); err != nil {
		return err
	}
	fromServer, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).Get(ctx, "weather", metav1.GetOptions{})
	if err != nil {
		return err
	}
	stored, err := corelisters.NewConfigMapLister(configMaps.GetIndexer()).ConfigMaps(s.Namespace).Get("weather")
	if err != nil {
		return err
	}
	s.Printf("at the server : %d bytes, managed fields of %d writers\n",
		size(fromServer), len(fromServer.ManagedFields))
	s.Printf("in the store : %d bytes, managed fields of %d writers\n", size(stored), len(stored.ManagedFields))
	s.Printf("SetTransform, now that it runs : %v\n", configMaps.SetTransform(nil))
	return nil
}

// size is how long an object is as JSON, but for the resource version, which
// has more digits on an old cluster.
func size(configMap *corev1.ConfigMap) int {
	configMap = configMap.DeepCopy()
	configMap.ResourceVersion = ""
	text, _ := json.Marshal(configMap) // it never fails
	return len(text)
}
