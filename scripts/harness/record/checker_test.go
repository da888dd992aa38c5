// The checker checked: informers with a planted bug each, and one without.

package record

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// object is a ConfigMap at one version. Its label and its data say which.
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

// A bug wraps one part of an informer.
type bug struct {
	lw      func(cache.ListerWatcher) cache.ListerWatcher
	handler func(cache.ResourceEventHandler) cache.ResourceEventHandler
	indexer func(cache.Indexer) cache.Indexer
}

// check runs client-go's informer, with a planted bug or without, through a list,
// some events and another list, and returns what the checker finds.
func check(t *testing.T, b bug) []error {
	t.Helper()
	server := fakeapi.New(object("a", "a1", "1"), object("b", "b1", "2"), object("c", "c1", "3"))
	var lw cache.ListerWatcher = server
	if b.lw != nil {
		lw = b.lw(lw)
	}
	informer := cache.NewSharedIndexInformerWithOptions(lw, &corev1.ConfigMap{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"app": byApp}})
	fast, removed := NewRecorder(nil), NewRecorder(nil)
	wrap := func(r *Recorder) cache.ResourceEventHandler {
		if b.handler != nil {
			return b.handler(r)
		}
		return r
	}
	if _, err := informer.AddEventHandler(wrap(fast)); err != nil {
		t.Fatal(err)
	}
	registration, err := informer.AddEventHandler(wrap(removed))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); informer.RunWithContext(ctx) }()
	defer func() { cancel(); <-ended }()

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
	if err := informer.RemoveEventHandler(registration); err != nil {
		t.Fatal(err)
	}
	removed.Removed(1)

	present := []*corev1.ConfigMap{object("a", "a1", "8"), object("b", "b2", "9"), object("d", "d1", "10")}
	server.Set(present[0], present[1], present[2]) // c is deleted, without an event
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

// eventually gives a handler time to catch up. One that never does is left to
// the checker.
func eventually(r *Recorder, server map[string]string) {
	for deadline := time.Now().Add(3 * time.Second); r.Behind(server) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

func TestAnInformerWithoutABug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if found := check(t, bug{}); len(found) > 0 {
			t.Error(Summary(found))
		}
	})
}

func TestEachPlantedBugIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		planted bug
		want    string // in what the checker finds
	}{
		"an event dropped on its way to the store": {bug{lw: dropEvent(4)},
			"default/b was written (b2@7), and no call came for it"},
		"an event between others dropped": {bug{lw: dropEvent(1)},
			"default/a was written (a1@4), and no call came for it"},
		"a delete dropped on its way to the store": {bug{lw: dropEvent(3)},
			"default/b was deleted (b1), and no call came for it"},
		"an event dropped on its way to a handler": {bug{handler: dropCall(4)}, "the handler's last call had a1@1"},
		"the last event dropped on its way to a handler": {bug{handler: dropNew("10")},
			"the handler's last call had \"\""},
		"two events swapped on their way to the store": {bug{lw: swapEvents(1)}, "back from version 5"},
		"two events swapped on their way to a handler": {bug{handler: swapCalls(4)}, "the handler's last call had"},
		"a delete lost on relist, for a handler": {bug{handler: dropTombstones},
			"default/c is not on the server, and the handler got no OnDelete"},
		"a delete lost on relist, in the store": {bug{lw: listDeleted},
			"default/c is in the store, and not on the server"},
		"a stale index entry": {bug{indexer: staleEntry},
			`index app, under "app-1": missing: [], stale: [default/a]`},
		"a stale index value": {bug{indexer: staleValue},
			`index app, under "app-1": no object has this value any more`},
		"an index entry that is missing": {bug{indexer: missingEntry},
			`index app, under "app-10": missing: [default/d], stale: []`},
		"an object with other contents in the store":  {bug{lw: listAltered}, "default/d in the store: it is"},
		"an object with other contents for a handler": {bug{handler: alterObjects}, "with other contents"},
		"an add delivered twice":                      {bug{handler: repeatAdd}, "the handler already has it"},
		"calls after the handler was removed": {bug{handler: neverRemoved()},
			"calls began after the handler was removed"},
		"a handler that is given something else": {bug{handler: passString}, "OnAdd with a string"},
		"an object added again after its delete": {bug{handler: addDeleted}, "it was deleted before"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				found := fmt.Sprint(Summary(check(t, test.planted)))
				if !strings.Contains(found, test.want) {
					t.Errorf("the checker found %s\nwant %q in it", found, test.want)
				}
			})
		})
	}
}
