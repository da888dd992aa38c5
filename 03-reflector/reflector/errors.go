// What an error of the server means.

package reflector

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// isExpired: the server no longer has that version (410).
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// isTooLarge: the server does not have that version yet. Kubernetes before 1.18.6
// says it in words only.
func isTooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) ||
		apierrors.IsTimeout(err) && strings.Contains(strings.ToLower(err.Error()), "too large resource version")
}

// isRefused: the server is not there, or has too much to do. A watch can go on
// where it was when the server is back: no list is needed.
func isRefused(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}

// isTable: the server was asked for a table to be printed, and not for objects.
func isTable(obj runtime.Object) bool {
	switch obj.(type) {
	case *unstructured.Unstructured, *unstructured.UnstructuredList:
		kind := obj.GetObjectKind().GroupVersionKind()
		return kind.Group == metav1.GroupName && strings.TrimSuffix(kind.Kind, "List") == "Table"
	}
	return false
}
