package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kube"
)

// clientset lists a namespace's ConfigMaps as Go structs. One of them is not
// ours: the cluster puts its root certificate into every namespace.
func clientset(ctx context.Context, s *kube.Session) error {
	configMaps := s.Clientset.CoreV1().ConfigMaps(s.Namespace)
	s.Printf("# kubectl create configmap colours --from-literal=sky=blue --from-literal=grass=green\n")
	colours := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "colours"},
		Data:       map[string]string{"sky": "blue", "grass": "green"},
	}
	if _, err := configMaps.Create(ctx, colours, metav1.CreateOptions{}); err != nil {
		return err
	}
	list, err := configMaps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, cm := range list.Items {
		s.Printf("name: %s, data: %s\n", cm.Name, firstLines(cm.Data))
	}
	return nil
}

// firstLines shows a map in the order of its keys, a long value by its first line.
func firstLines(data map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		line, _, more := strings.Cut(data[key], "\n")
		if more {
			line += " ..."
		}
		pairs = append(pairs, fmt.Sprintf("%s=%s", key, line))
	}
	return strings.Join(pairs, ", ")
}
