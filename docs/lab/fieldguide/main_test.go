// What the tests of this package share, beside the capture of klog.

package fieldguide

import (
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runInformer runs client-go's informer until the end of the test.
func runInformer(t *testing.T, source cache.ListerWatcher, objectType runtime.Object) cache.SharedIndexInformer {
	informer := cache.NewSharedIndexInformerWithOptions(source, objectType, cache.SharedIndexInformerOptions{})
	must.Run(t, informer.RunWithContext)
	return informer
}

// runConfigMaps runs an informer of the ConfigMaps of a namespace.
func runConfigMaps(t *testing.T, config *rest.Config, namespace string) cache.SharedIndexInformer {
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	return runInformer(t, cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", namespace,
		fields.Everything()), &corev1.ConfigMap{})
}
