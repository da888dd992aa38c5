// The parts of client-go that use an informer work with ours: listers, the factory, the typed
// informer.

package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// namespaced are the options that client-go's factory gives to its informers.
func namespaced() cache.SharedIndexInformerOptions {
	return cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	}
}

func TestAListerReadsFromIt(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		web := configMap("b", "1")
		web.Namespace = "other"
		web.Labels = map[string]string{"app": "web"}
		r := newRig(newInformer, namespaced(), configMap("a", "1"), web)
		r.run(t)
		lister := listers.NewConfigMapLister(r.GetIndexer())
		for namespace, want := range map[string]int{"": 2, "ns": 1, "other": 1, "none": 0} {
			found, err := lister.ConfigMaps(namespace).List(labels.Everything())
			if err != nil || len(found) != want {
				t.Errorf("ConfigMaps(%q).List() = %d objects, %v; want %d, nil", namespace, len(found), err, want)
			}
		}
		a, err := lister.ConfigMaps("ns").Get("a")
		must.NoError(t, err)
		if a.Name != "a" {
			t.Errorf("Get(a) = %s, want a", a.Name)
		}
		found, err := lister.List(labels.SelectorFromSet(labels.Set{"app": "web"}))
		if err != nil || len(found) != 1 || found[0] != web {
			t.Errorf("List(app=web) = %v, %v; want the object %s/%s, nil", found, err, web.Namespace, web.Name)
		}
	})
}

func TestClientGosFactoryRunsIt(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		server := fakeapi.New(managed("a", "1"))
		factory := informers.NewSharedInformerFactoryWithOptions(fake.NewClientset(), time.Minute,
			informers.WithTransform(strip))
		made := 0
		shared := func() cache.SharedIndexInformer {
			return factory.InformerFor(&corev1.ConfigMap{},
				func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
					made++
					options := namespaced()
					options.ResyncPeriod = resync
					return newInformer(server, &corev1.ConfigMap{}, options)
				})
		}
		var calls record.Lines
		registration, err := shared().AddEventHandler(stripped(&calls))
		must.NoError(t, err)
		factory.Core().V1().ConfigMaps().Informer() // finds the informer that InformerFor has made
		shared()
		if made != 1 {
			t.Errorf("%d informers were made, want 1 for all", made)
		}

		ctx, cancel := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		must.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
		if !cache.WaitFor(ctx, "", registration.HasSyncedChecker()) {
			t.Error("WaitFor() = false for the handler, want true")
		}
		calls.Want(t, "add a 1: true")
		_, err = factory.Core().V1().ConfigMaps().Lister().ConfigMaps("ns").Get("a")
		must.NoError(t, err)
		time.Sleep(time.Minute) // the resync period of the factory
		calls.Want(t, "old a 1: true", "new a 1: true")

		cancel()
		factory.Shutdown()
		if !shared().IsStopped() {
			t.Error("IsStopped() = false after Shutdown, want true")
		}
	})
}

func TestTheTypedInformerRunsOnIt(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("b", "1"))
		typed := cache.NewTypedSharedIndexInformer[*corev1.ConfigMap](r)
		must.NoError(t, typed.AddTypedIndexers(cache.TypedIndexers[*corev1.ConfigMap]{
			"version": func(c *corev1.ConfigMap) ([]string, error) { return []string{c.ResourceVersion}, nil },
		}))
		var calls record.Lines
		registration, err := typed.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
			AddFunc: func(c *corev1.ConfigMap) { calls.Add("add %s", c.Name) },
			UpdateFunc: func(before, c *corev1.ConfigMap) {
				calls.Add("%s: %s to %s", c.Name, before.ResourceVersion, c.ResourceVersion)
			},
			DeleteFunc: func(c cache.DeletedObject[*corev1.ConfigMap]) {
				calls.Add("delete %s %s, known: %t", c.GetKey(), c.OptionalObj.ResourceVersion,
					c.FinalStateUnknown == nil)
			},
		})
		must.NoError(t, err)
		r.run(t)
		calls.WantSorted(t, "add a", "add b")
		wantSynced(t, "the typed handler", true, registration)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		calls.Want(t, "a: 1 to 2")
		found, err := typed.GetTypedIndexer().ByTypedIndex("version", "2")
		if err != nil || len(found) != 1 || found[0].Name != "a" {
			t.Errorf(`ByTypedIndex("version", "2") = %v, %v; want a, nil`, found, err)
		}
		r.server.Set()
		w.Delete(configMap("b", "3"))
		calls.Want(t, "delete ns/b 3, known: true")
		fakeapi.Expire(w)
		r.server.NextWatch()
		calls.Want(t, "delete ns/a 2, known: false")
		synctest.Wait()
		must.NoError(t, typed.RemoveEventHandler(registration))
	})
}
