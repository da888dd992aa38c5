// What the tests of this package share, beside the capture of klog.

package fieldguide

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps by a real clock
	goleak.VerifyTestMain(wholeGuide{m})
}

// How lines of the guide begin.
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

// selected lists and watches a resource of a namespace, with changed options.
func selected(client kubernetes.Interface, resource, namespace string,
	change func(*metav1.ListOptions)) cache.ListerWatcher {
	return cache.NewFilteredListWatchFromClient(client.CoreV1().RESTClient(), resource, namespace, change)
}

// runConfigMaps runs an informer of the ConfigMaps of a namespace.
func runConfigMaps(t *testing.T, config *rest.Config, namespace string) cache.SharedIndexInformer {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	return runInformer(t, selected(client, "configmaps", namespace, func(*metav1.ListOptions) {}), &corev1.ConfigMap{})
}

// An answerer is a rest.Config's Transport that answers in the place of a server.
type answerer func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (a answerer) RoundTrip(request *http.Request) (*http.Response, error) { return a(request) }

// runParcels runs an informer of a version of testdata/parcels.yaml.
func runParcels(t *testing.T, s *session.Session, version string,
	change func(*metav1.ListOptions)) cache.SharedIndexInformer {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config)
	must.Do(t, err)
	resource := schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: version, Resource: "parcels"}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, resource, s.Namespace, 0, nil, change).Informer()
	must.Run(t, informer.RunWithContext)
	return informer
}
