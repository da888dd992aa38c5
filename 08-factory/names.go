// The names of listed objects, for the output of several steps.

package main

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// names returns the names of the objects that a lister has returned, sorted. (The error of an
// informer's lister is always nil, because the lister reads from memory.)
func names[T any](objs []T, _ error) string {
	var names []string
	for _, obj := range objs {
		names = append(names, any(obj).(metav1.Object).GetName())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
