package main

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// names are those of the objects that a lister returned, sorted. (The error is
// always nil: the lister of an informer reads from memory.)
func names[T any](objs []T, _ error) string {
	var names []string
	for _, obj := range objs {
		names = append(names, any(obj).(metav1.Object).GetName())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
