// Errors and objects of the server that a reflector has to recognize.

package reflector

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/tools/cache"
)

// ToWatchErrorHandler returns a handler of client-go as a WatchErrorHandler for these options. Such
// a handler also gets a reflector of client-go, and can ask it for its name and type. The one here
// never runs.
func ToWatchErrorHandler(handler cache.WatchErrorHandlerWithContext, options Options) func(context.Context, error) {
	named := cache.NewReflectorWithOptions(options.ListerWatcher, options.ExpectedType, nil,
		cache.ReflectorOptions{TypeDescription: options.TypeDescription})
	return func(ctx context.Context, err error) { handler(ctx, named, err) }
}

// isExpiredError reports whether the server no longer has the version (status 410). Kubernetes
// before 1.18 has two reasons for this status.
func isExpiredError(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// isTooLargeResourceVersionError reports whether the server does not have the version yet.
// Kubernetes before 1.18.6 says this only in the text of the error.
func isTooLargeResourceVersionError(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) ||
		apierrors.IsTimeout(err) && strings.Contains(strings.ToLower(err.Error()), "too large resource version")
}

// isWatchErrorRetriable reports whether the server is down or overloaded. When the server is back,
// a watch can resume from its last version, and no list is needed. A server that has just come back
// cannot handle the lists of all reflectors as well.
func isWatchErrorRetriable(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}

// isUnsupportedTableObject reports whether the object is a table, or a list of tables. A server
// sends tables to a client that asks for output to print, as kubectl does.
func isUnsupportedTableObject(obj runtime.Object) bool {
	switch obj.(type) {
	case *unstructured.Unstructured, *unstructured.UnstructuredList:
		gvk := obj.GetObjectKind().GroupVersionKind()
		return gvk.Group == metav1.GroupName && strings.TrimSuffix(gvk.Kind, "List") == "Table"
	}
	return false
}
