// What client-go builds on an informer works on ours: listers, the factory, the
// typed informer.

package informer

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

func TestTheTypedInformerRunsOnIt(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("b", "1"))
		typed := cache.NewTypedSharedIndexInformer[*corev1.ConfigMap](r)
		must.Do(t, typed.AddTypedIndexers(cache.TypedIndexers[*corev1.ConfigMap]{
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
		must.Do(t, err)
		r.run(t)
		calls.WantSorted(t, "add a", "add b")
		wantSynced(t, "the typed handler", true, registration)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		calls.Want(t, "a: 1 to 2")
		two, err := typed.GetTypedIndexer().ByTypedIndex("version", "2")
		expect.That(t, err == nil && len(two) == 1 && two[0].Name == "a", "version 2: %v, %v", two, err)
		r.server.Set()
		w.Delete(configMap("b", "3"))
		calls.Want(t, "delete ns/b 3, known: true")
		fakeapi.Expire(w)
		r.server.NextWatch()
		calls.Want(t, "delete ns/a 2, known: false")
		synctest.Wait()
		must.Do(t, typed.RemoveEventHandler(registration))
	})
}
