// TestMain, and the helpers of the tests of this package, except for those that capture klog.

package fieldguide

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second handler sleeps, with the real clock
	goleak.VerifyTestMain(wholeGuide{m})
}

// The beginnings of many lines of the guide.
const (
	failedToWatch = `E… reflector.go:…] "Failed to watch" err="`
	watchEnded    = `I… reflector.go:…] "Warning: watch ended with error" … err="`
)

// runInformer runs client-go's informer until the end of the test.
func runInformer(t *testing.T, source cache.ListerWatcher, objectType runtime.Object) cache.SharedIndexInformer {
	t.Helper()
	informer := cache.NewSharedIndexInformerWithOptions(source, objectType, cache.SharedIndexInformerOptions{})
	must.Run(t, informer.RunWithContext)
	return informer
}

// listWatch lists and watches a resource in a namespace, and lets a function change the options of
// each request.
func listWatch(client kubernetes.Interface, resource, namespace string,
	change func(*metav1.ListOptions)) cache.ListerWatcher {
	return cache.NewFilteredListWatchFromClient(client.CoreV1().RESTClient(), resource, namespace, change)
}

// runConfigMaps runs an informer of the ConfigMaps of a namespace.
func runConfigMaps(t *testing.T, config *rest.Config, namespace string) cache.SharedIndexInformer {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	return runInformer(t, listWatch(client, "configmaps", namespace, func(*metav1.ListOptions) {}), &corev1.ConfigMap{})
}

// refuseAll returns the transport of a client whose requests all get this error of the API server.
func refuseAll(err *apierrors.StatusError) http.RoundTripper {
	return fault.RoundTripper(func(request *http.Request) (*http.Response, error) {
		return fault.Refuse(err)(request, nil)
	})
}

// runParcels runs an informer of the custom resource in testdata/parcels.yaml, in one of its
// versions.
func runParcels(t *testing.T, s *session.Session, version string,
	change func(*metav1.ListOptions)) cache.SharedIndexInformer {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	resource := schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: version, Resource: "parcels"}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, resource, s.Namespace, 0, nil, change).Informer()
	must.Run(t, informer.RunWithContext)
	return informer
}
