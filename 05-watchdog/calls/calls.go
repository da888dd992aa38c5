// Package calls shows the calls that a handler gets, one line each.
package calls

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Print returns a handler that prints what it is told, one line a call. state
// says in a word how an object is.
func Print[T metav1.Object](printf func(string, ...any), state func(T) string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			note := ""
			if isInInitialList {
				note = " (in the first list)"
			}
			printf("OnAdd : %s : %s%s\n", obj.(T).GetName(), state(obj.(T)), note)
		},
		UpdateFunc: func(oldObj, newObj any) {
			was, note := state(oldObj.(T)), ""
			if was != state(newObj.(T)) {
				note = fmt.Sprintf(" (was %s)", was)
			}
			printf("OnUpdate : %s : %s%s\n", newObj.(T).GetName(), state(newObj.(T)), note)
		},
		DeleteFunc: func(obj any) {
			note := ""
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj, note = gone.Obj, " (a tombstone: as it was last seen)"
			}
			last, ok := obj.(T) // a tombstone can be empty
			if !ok {
				printf("OnDelete : nothing is left but the tombstone\n")
				return
			}
			printf("OnDelete : %s : %s%s\n", last.GetName(), state(last), note)
		},
	}
}

// Phase is how a pod is.
func Phase(pod *corev1.Pod) string { return string(pod.Status.Phase) }

// Data is what is in a ConfigMap, in the order of the keys.
func Data(configMap *corev1.ConfigMap) string {
	pairs := []string{}
	for key, value := range configMap.Data {
		pairs = append(pairs, key+"="+value)
	}
	slices.Sort(pairs)
	return "[" + strings.Join(pairs, " ") + "]"
}
