// Claims of docs/reference/upgrading.md about the pinned version that no chapter shows.

package findings

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A registry collects the gates of client-go, with their newest specification.
type registry map[features.Feature]features.FeatureSpec

// AddVersioned implements features.VersionedRegistry.
func (r registry) AddVersioned(all map[features.Feature]features.VersionedSpecs) error {
	for name, specs := range all {
		r[name] = specs[len(specs)-1]
	}
	return nil
}

var gateOnPage = regexp.MustCompile("`(\\w+)`( \\(locked\\))?")

// The page lists the gates that are on, and says which of them are locked.
func TestWhichGatesAreOn(t *testing.T) {
	page, err := os.ReadFile("../../reference/upgrading.md")
	must.NoError(t, err)
	const before = "these gates are on:"
	_, list, found := strings.Cut(string(page), before)
	if !found {
		t.Fatalf("docs/reference/upgrading.md does not say %q", before)
	}
	list, _, _ = strings.Cut(list, "[✓]")
	onPage := map[string]bool{} // the gates, and whether they are locked
	for _, match := range gateOnPage.FindAllStringSubmatch(list, -1) {
		onPage[match[1]] = match[2] != ""
	}

	gates := registry{}
	must.NoError(t, features.AddVersionedFeaturesToExistingFeatureGates(gates))
	inClientGo := map[string]bool{}
	for name, spec := range gates {
		if spec.Default {
			inClientGo[string(name)] = spec.LockToDefault
		}
	}
	if diff := cmp.Diff(inClientGo, onPage); diff != "" {
		t.Errorf("the gates on the page differ, locked is true (-client-go +page):\n%s", diff)
	}
}

func TestAWatchOfAFakeClientsetBeginsWithWhatTheListMissed(t *testing.T) {
	configMaps := fake.NewClientset(fakeapi.ConfigMap("a", "")).CoreV1().ConfigMaps("ns")
	list, err := configMaps.List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	_, err = configMaps.Create(t.Context(), fakeapi.ConfigMap("b", ""), metav1.CreateOptions{})
	must.NoError(t, err)
	must.NoError(t, configMaps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	w, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	must.NoError(t, err)
	defer w.Stop()
	if got := (<-w.ResultChan()).Object.(*corev1.ConfigMap).Name; got != "b" {
		t.Errorf("the first event is for the ConfigMap %q, want b", got)
	}
	select {
	case event := <-w.ResultChan():
		t.Errorf("the second event is %v, want none: the delete is lost", event)
	default:
	}
}

// A factory without a transform does not remove the transform of an informer that it gets from a
// program.
func TestAFactoryLeavesATransformAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := make(chan struct{}, 1)
		in := cache.NewSharedIndexInformer(fakeapi.New(fakeapi.ConfigMap("a", "1")), &corev1.ConfigMap{}, 0, nil)
		must.NoError(t, in.SetTransform(func(obj any) (any, error) {
			called <- struct{}{}
			return obj, nil
		}))
		informers.NewSharedInformerFactory(fake.NewClientset(), 0).InformerFor(&corev1.ConfigMap{},
			func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return in })
		must.Run(t, in.RunWithContext)
		<-called // without a call, synctest reports a deadlock
	})
}

func TestWhatAFactoryCanDo(t *testing.T) {
	factory := reflect.TypeFor[informers.SharedInformerFactory]()
	for _, method := range []string{"StartWithContext", "WaitForCacheSyncWithContext", "InformerName"} {
		if _, ok := factory.MethodByName(method); !ok {
			t.Errorf("%v has no method %s", factory, method)
		}
	}
}

func TestInterfacesThatHaveChangedIn37(t *testing.T) {
	if _, ok := reflect.TypeFor[cache.MutationCache]().MethodByName("internal"); !ok {
		t.Error("MutationCache has no private method internal, so programs can implement it again")
	}
	var _ func(kubernetes.Interface) discovery.DiscoveryInterfaces = kubernetes.Interface.Discovery
}
