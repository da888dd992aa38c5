package factory

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

// many lists n ConfigMaps of a good kilobyte each, and keeps none of them.
func many(n int) *fakeapi.Server {
	server := fakeapi.New()
	server.ListWithContextFunc = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		list := &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, n)}
		for i := range list.Items {
			list.Items[i].ObjectMeta = configMap(fmt.Sprintf("object-%05d", i)).ObjectMeta
			list.Items[i].Data = map[string]string{"text": strings.Repeat("x", 1024)}
		}
		return list, nil
	}
	return server
}

func TestForgetGivesTheMemoryBack(t *testing.T) {
	const n = 20_000
	f := New(nowhere(t), Options{})
	before, goroutines := usage.Heap(), goleak.IgnoreCurrent()
	_, err := f.ClientGo().InformerFor(&corev1.ConfigMap{}, on(many(n), &corev1.ConfigMap{})).AddEventHandler(
		cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}})
	must.Do(t, err)
	start(t, f)
	if got := len(f.ConfigMaps().Informer().GetStore().ListKeys()); got != n {
		t.Fatalf("%d objects, want %d", got, n)
	}
	cached := usage.Heap() - before

	f.Forget(ConfigMaps)
	left := usage.Heap() - before
	wantNoMore(t, goroutines)
	t.Logf("%d objects: %d KiB cached, %d KiB left", n, cached>>10, left>>10)
	expect.That(t, cached >= n<<10 && left <= cached/10,
		"%d KiB cached, %d KiB left; want at least %d, and next to nothing", cached>>10, left>>10, n)
}

func TestAfterForgetThereIsAFreshOne(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
	f := New(client, Options{})
	old := f.ConfigMaps()
	start(t, f)
	f.Forget(ConfigMaps)
	expect.That(t, old.Informer().IsStopped(), "it still runs")
	if _, err := old.Lister().ConfigMaps("ns").Get("a"); err != nil {
		t.Error("who has the old lister has not its last state:", err)
	}
	server.Reset()
	fresh := f.ConfigMaps().Informer()
	expect.That(t, fresh != old.Informer() && !fresh.HasSynced(), "it is not fresh")
	start(t, f)
	expect.That(t, fresh.HasSynced() && server.Lists() == 1,
		"synced: %t, lists: %d; want one", fresh.HasSynced(), server.Lists())
}

func TestForgetLeavesTheOthersAlone(t *testing.T) {
	client := fake.NewClientset()
	f := New(client, Options{})
	f.Nodes()
	kept := f.ConfigMaps()
	start(t, f)
	f.Forget(Nodes)
	_, err := client.CoreV1().ConfigMaps("ns").Create(t.Context(), configMap("b"), metav1.CreateOptions{})
	must.Do(t, err)
	must.Until(t, "the other informer hears of it", func() bool {
		// it may not watch yet
		_, err := client.CoreV1().ConfigMaps("ns").Update(t.Context(), configMap("b"), metav1.UpdateOptions{})
		must.Do(t, err)
		_, err = kept.Lister().ConfigMaps("ns").Get("b")
		return err == nil
	})
}

func TestForgetWhatDoesNotRunOrIsNotThere(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	f.Forget(Pods) // never asked for
	old := f.Pods().Informer()
	f.Forget(Pods) // never started
	f.Forget(Pods)
	expect.That(t, f.Pods().Informer() != old, "it was not forgotten")
	start(t, f)
	f.Forget(Pods)
	f.Forget(Pods)
	f.Pods()
	f.Shutdown()
	f.Forget(Pods) // after the end
}
