// Tests of the checker, on informers with one planted bug each, and on an informer without.

package record

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// object returns a ConfigMap at one version. Its label and its data have the version too.
func object(name, uid, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(uid), ResourceVersion: version,
			Labels: map[string]string{"app": "app-" + version},
		},
		Data: map[string]string{"version": version},
	}
}

func byApp(obj any) ([]string, error) { return []string{obj.(Object).GetLabels()["app"]}, nil }

// A bug is planted in one part of an informer. The zero value is not a bug.
type bug struct {
	// events changes the events of a watch. It gets each event, and a function that passes an event
	// on.
	events func(watch.Event, func(watch.Event))

	// list changes the nth list.
	list func(n int, list *corev1.List)

	// calls returns a function that changes the calls of one handler. The function gets each call,
	// and a function that passes a call on.
	calls func() func(call, func(call))

	// late calls a handler after it was removed.
	late bool

	// indexer changes the indexer.
	indexer func(cache.Indexer) cache.Indexer
}

// check runs client-go's informer with a bug through a list, some events and another list, and
// returns the errors that the checker finds.
func check(t *testing.T, b bug) []error {
	t.Helper()
	server := fakeapi.New(object("a", "a1", "1"), object("b", "b1", "2"), object("c", "c1", "3"))
	informer := cache.NewSharedIndexInformerWithOptions(&buggyServer{Server: server, bug: b}, &corev1.ConfigMap{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"app": byApp}})
	fast, removed := NewRecorder(nil), NewRecorder(nil)
	if b.late {
		fast.after = func(n int) { // the removed handler gets its calls too
			if calls, _ := fast.Calls(); n > 6 {
				removed.OnAdd(calls[n-1].New, false)
			}
		}
	}
	_, err := informer.AddEventHandler(b.handler(fast))
	must.NoError(t, err)
	registration, err := informer.AddEventHandler(b.handler(removed))
	must.NoError(t, err)
	defer must.Run(t, informer.RunWithContext)()

	w := server.NextWatch()
	var changes []Change
	write := func(o *corev1.ConfigMap) *corev1.ConfigMap {
		changes = append(changes, Change{Key: "default/" + o.Name, UID: o.UID, Version: o.ResourceVersion})
		return o
	}
	w.Modify(write(object("a", "a1", "4")))
	w.Modify(write(object("a", "a1", "5")))
	w.Delete(object("b", "b1", "6"))
	changes = append(changes, Change{Key: "default/b", UID: "b1", Deleted: true})
	w.Add(write(object("b", "b2", "7")))
	w.Modify(write(object("a", "a1", "8")))
	eventually(removed, map[string]string{"default/a": "a1@8", "default/b": "b2@7", "default/c": "c1@3"})
	must.NoError(t, informer.RemoveEventHandler(registration))
	removed.Removed(1)

	present := []*corev1.ConfigMap{object("a", "a1", "8"), object("b", "b2", "9"), object("d", "d1", "10")}
	server.Set(present[0], present[1], present[2]) // without c: it was deleted, and its event is lost
	fakeapi.Expire(w)
	server.NextWatch()
	c := Checker{
		Store: informer.GetIndexer(), Contents: Contents{},
		Recorders: map[string]*Recorder{"fast": fast, "removed": removed},
		Complete:  "fast", Changes: changes,
	}
	for _, o := range present {
		c.Server = append(c.Server, o.DeepCopy())
	}
	if b.indexer != nil {
		c.Store = b.indexer(c.Store)
	}
	eventually(fast, Versions(c.Server))
	return c.Check()
}

// eventually gives a handler time to catch up. The checker finds a handler that never does.
func eventually(r *Recorder, server map[string]string) {
	for deadline := time.Now().Add(3 * time.Second); r.Behind(server) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

func TestNothingIsFoundWithoutABug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if found := check(t, bug{}); len(found) > 0 {
			t.Errorf("the checker found %v, want nothing", found)
		}
	})
}

func TestEachPlantedBugIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		planted bug
		want    string // in the errors that the checker finds
	}{
		"an event dropped on its way to the store": {bug{events: drop[watch.Event](4)},
			"default/b was written (b2@7), and no call came for it"},
		"an event between others dropped": {bug{events: drop[watch.Event](1)},
			"default/a was written (a1@4), and no call came for it"},
		"a delete dropped on its way to the store": {bug{events: drop[watch.Event](3)},
			"default/b was deleted (b1), and no call came for it"},
		"an event dropped on its way to a handler": {bug{calls: onFourth(drop[call])},
			"the handler's last call had a1@1"},
		"the last event dropped on its way to a handler": {bug{calls: stateless(dropNew)},
			"the handler's last call had \"\""},
		"two events swapped on their way to the store": {bug{events: swap[watch.Event](1)}, "back from version 5"},
		"two events swapped on their way to a handler": {
			bug{calls: onFourth(swap[call])}, "the handler's last call had"},
		"a delete lost on relist, for a handler": {bug{calls: stateless(dropTombstones)},
			"default/c is not on the server, and the handler got no OnDelete"},
		"a delete lost on relist, in the store": {bug{list: listDeleted},
			"default/c is in the store, and not on the server"},
		"a stale index entry": {bug{indexer: indexes("app-1", "default/a")},
			`index app, under "app-1": missing: [], stale: [default/a]`},
		"a stale index value": {bug{indexer: indexes("app-1")},
			`index app, under "app-1": no object has this value any more`},
		"an index entry that is missing": {bug{indexer: indexes("app-10")},
			`index app, under "app-10": missing: [default/d], stale: []`},
		"an object with other contents in the store":  {bug{list: listAltered}, "default/d in the store: it is"},
		"an object with other contents for a handler": {bug{calls: stateless(alterObjects)}, "with other contents"},
		"an add delivered twice":                      {bug{calls: stateless(repeatAdd)}, "the handler already has it"},
		"calls after the handler was removed": {bug{late: true},
			"calls began after the handler was removed"},
		"a handler that is given something else": {bug{calls: stateless(passString)}, "OnAdd with a string"},
		"an object added again after its delete": {bug{calls: stateless(addDeleted)}, "it was deleted before"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := Summary(check(t, test.planted))
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("the checker found %v\nwant an error with %q", err, test.want)
				}
			})
		})
	}
}
