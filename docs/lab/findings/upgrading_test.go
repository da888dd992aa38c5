// What docs/upgrading.md says of the pinned version, and no chapter shows.

package findings

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

type registry map[features.Feature]features.FeatureSpec

func (r registry) AddVersioned(all map[features.Feature]features.VersionedSpecs) error {
	for name, specs := range all {
		r[name] = specs[len(specs)-1]
	}
	return nil
}

func TestWhichGatesAreOn(t *testing.T) {
	gates := registry{}
	must.Do(t, features.AddVersionedFeaturesToExistingFeatureGates(gates))
	maps.DeleteFunc(gates, func(_ features.Feature, spec features.FeatureSpec) bool { return !spec.Default })
	if got, want := slices.Sorted(maps.Keys(gates)), []features.Feature{
		features.AtomicFIFO, features.ClientsAllowCARotation, features.ClientsAllowTLSCacheGC,
		features.InOrderInformers, features.InOrderInformersBatchProcess, features.InformerResourceVersion,
		features.UnlockWhileProcessingFIFO, features.WatchListClient,
	}; !slices.Equal(got, want) || !gates[features.InOrderInformers].LockToDefault {
		t.Errorf("on are %q, and of InOrderInformers %+v", got, gates[features.InOrderInformers])
	}
}

func TestAWatchOfAFakeClientsetBeginsWithWhatTheListMissed(t *testing.T) {
	configMaps := fake.NewClientset(fakeapi.ConfigMap("a", "")).CoreV1().ConfigMaps("ns")
	list, err := configMaps.List(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	_, err = configMaps.Create(t.Context(), fakeapi.ConfigMap("b", ""), metav1.CreateOptions{})
	must.Do(t, err)
	w, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	must.Do(t, err)
	defer w.Stop()
	got := (<-w.ResultChan()).Object.(*corev1.ConfigMap).Name
	expect.That(t, got == "b", "the first event is about %s", got)
}

// A factory without a transform leaves the transform of an informer that it is handed.
func TestAFactoryLeavesATransformAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := make(chan struct{}, 1)
		in := cache.NewSharedIndexInformer(fakeapi.New(fakeapi.ConfigMap("a", "1")), &corev1.ConfigMap{}, 0, nil)
		must.Do(t, in.SetTransform(func(obj any) (any, error) { called <- struct{}{}; return obj, nil }))
		informers.NewSharedInformerFactory(fake.NewClientset(), 0).InformerFor(&corev1.ConfigMap{},
			func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return in })
		must.Run(t, in.RunWithContext)
		<-called
	})
}

func TestInterfacesThatHaveChangedIn37(t *testing.T) {
	_, ok := reflect.TypeFor[cache.MutationCache]().MethodByName("internal")
	expect.That(t, ok, "others can implement MutationCache again")
	var _ func(kubernetes.Interface) discovery.DiscoveryInterfaces = kubernetes.Interface.Discovery
}
