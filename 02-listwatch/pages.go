package main

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kube"
)

// pages reads a list two at a time. However long that takes, all pages show
// the same version of the world: that of the first.
func pages(ctx context.Context, s *kube.Session) error {
	for i := range 4 {
		if _, err := s.CreateConfigMap(ctx, fmt.Sprintf("cm-%d", i+1)); err != nil {
			return err
		}
	}
	options := metav1.ListOptions{Limit: 2}
	versions := map[string]bool{}
	for page := 1; ; page++ {
		list, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).List(ctx, options)
		if err != nil {
			return err
		}
		var names []string
		for _, cm := range list.Items {
			names = append(names, cm.Name)
		}
		versions[list.ResourceVersion] = true
		s.Printf("page %d : %s : %s\n", page, strings.Join(names, " "), remaining(list.ListMeta))
		if list.Continue == "" {
			break
		}
		options.Continue = list.Continue
		if page == 1 {
			if _, err := s.CreateConfigMap(ctx, "cm-9-too-late"); err != nil {
				return err
			}
		}
	}
	s.Printf("versions seen: %d\n", len(versions))
	return nil
}

// remaining says how many objects come after this page of a list.
func remaining(list metav1.ListMeta) string {
	if list.RemainingItemCount == nil {
		return "the last"
	}
	return fmt.Sprintf("%d remain", *list.RemainingItemCount)
}
