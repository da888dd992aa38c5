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

// isExpiredError: the server no longer has that version (410). Kubernetes before 1.18
// has two reasons for it.
func isExpiredError(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// isTooLargeResourceVersionError: the server does not have that version yet. Kubernetes
// before 1.18.6 says it in words only.
func isTooLargeResourceVersionError(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) ||
		apierrors.IsTimeout(err) && strings.Contains(strings.ToLower(err.Error()), "too large resource version")
}

// isWatchErrorRetriable: the server is not there, or has too much to do. A watch can go
// on where it was when the server is back: no list is needed, and a server that has
// just come back has enough to do without the lists of all reflectors.
func isWatchErrorRetriable(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}

// isUnsupportedTableObject: the server was asked for a table to be printed, or for a
// list of tables, and not for objects.
func isUnsupportedTableObject(obj runtime.Object) bool {
	switch obj.(type) {
	case *unstructured.Unstructured, *unstructured.UnstructuredList:
		gvk := obj.GetObjectKind().GroupVersionKind()
		return gvk.Group == metav1.GroupName && strings.TrimSuffix(gvk.Kind, "List") == "Table"
	}
	return false
}
