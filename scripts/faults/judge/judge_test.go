// The judge judged: informers that are broken on purpose, each in one way, and
// one that is not.

package judge

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

	"example.com/informer/05-watchdog/fakeserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// object is a ConfigMap at one moment. Its data says which.
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

// A broken is an informer with something wrong in one place.
type broken struct {
	lw      func(cache.ListerWatcher) cache.ListerWatcher
	handler func(cache.ResourceEventHandler) cache.ResourceEventHandler
	indexer func(cache.Indexer) cache.Indexer
}

// trial runs client-go's informer, with a defect or without, through a list,
// some events and another list, and returns the verdict.
func trial(t *testing.T, b broken) []error {
	t.Helper()
	server := fakeserver.New(object("a", "a1", "1"), object("b", "b1", "2"), object("c", "c1", "3"))
	var lw cache.ListerWatcher = server
	if b.lw != nil {
		lw = b.lw(lw)
	}
	informer := cache.NewSharedIndexInformerWithOptions(lw, &corev1.ConfigMap{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"app": byApp}})
	fast, leaver := NewRecorder(nil), NewRecorder(nil)
	wrap := func(r *Recorder) cache.ResourceEventHandler {
		if b.handler != nil {
			return b.handler(r)
		}
		return r
	}
	if _, err := informer.AddEventHandler(wrap(fast)); err != nil {
		t.Fatal(err)
	}
	leaving, err := informer.AddEventHandler(wrap(leaver))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); informer.RunWithContext(ctx) }()
	defer func() { cancel(); <-ended }()

	w := server.NextWatch()
	var written []Written
	write := func(o *corev1.ConfigMap) *corev1.ConfigMap {
		written = append(written, Written{Key: "default/" + o.Name, UID: o.UID, Version: o.ResourceVersion})
		return o
	}
	w.Modify(write(object("a", "a1", "4")))
	w.Modify(write(object("a", "a1", "5")))
	w.Delete(object("b", "b1", "6"))
	written = append(written, Written{Key: "default/b", UID: "b1", Deleted: true})
	w.Add(write(object("b", "b2", "7")))
	w.Modify(write(object("a", "a1", "8")))
	eventually(leaver, map[string]string{"default/a": "a1@8", "default/b": "b2@7", "default/c": "c1@3"})
	if err := informer.RemoveEventHandler(leaving); err != nil {
		t.Fatal(err)
	}
	leaver.Removed(1)

	present := []*corev1.ConfigMap{object("a", "a1", "8"), object("b", "b2", "9"), object("d", "d1", "10")}
	server.Set(present[0], present[1], present[2]) // c is gone, and nobody saw how
	fakeserver.Expire(w)
	server.NextWatch()
	e := Evidence{
		Store: informer.GetIndexer(), Contents: Contents{},
		Handlers: map[string]*Recorder{"fast": fast, "leaver": leaver},
		Witness:  "fast", Written: written,
	}
	for _, o := range present {
		e.Server = append(e.Server, o.DeepCopy())
	}
	if b.indexer != nil {
		e.Store = b.indexer(e.Store)
	}
	eventually(fast, Versions(e.Server))
	return e.Verdict()
}

// eventually gives a handler time to hear of everything; one that never does
// is left to the judge.
func eventually(r *Recorder, truth map[string]string) {
	for deadline := time.Now().Add(3 * time.Second); r.Lags(truth) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

func TestAnInformerThatIsRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if found := trial(t, broken{}); len(found) > 0 {
			t.Error(Some(found))
		}
	})
}

func TestBrokenOnPurpose(t *testing.T) {
	for name, test := range map[string]struct {
		defect broken
		want   string // part of the verdict
	}{
		"an event dropped on its way to the store": {broken{lw: dropEvent(4)},
			"default/b was written (b2@7), and no call told of it"},
		"an event in the midst dropped": {broken{lw: dropEvent(1)},
			"default/a was written (a1@4), and no call told of it"},
		"a delete dropped on its way to the store": {broken{lw: dropEvent(3)},
			"default/b was deleted (b1), and no call told of it"},
		"an event dropped on its way to a handler": {broken{handler: dropCall(4)}, "the handler saw a1@1 last"},
		"the last event dropped on its way to a handler": {broken{handler: dropNew("10")},
			"the handler was told \"\" last"},
		"two events swapped on their way to the store": {broken{lw: swapEvents(1)}, "back from version 5"},
		"two events swapped on their way to a handler": {broken{handler: swapCalls(4)}, "the handler saw"},
		"a delete lost on relist, for a handler": {broken{handler: dropTombstones},
			"default/c is gone, and the handler was not told"},
		"a delete lost on relist, in the store": {broken{lw: listsTheDead},
			"default/c is in the store, and not on the server"},
		"an index entry left behind": {broken{indexer: staleIndex},
			`index app, under "app-1": missing are [], left behind are [default/a]`},
		"an index value left behind": {broken{indexer: emptyIndex},
			`index app, under "app-1": there is nothing any more`},
		"an index entry that is missing": {broken{indexer: lackingIndex},
			`index app, under "app-10": missing are [default/d], left behind are []`},
		"an object with other contents in the store":  {broken{lw: listsLies}, "default/d in the store: it is"},
		"an object with other contents for a handler": {broken{handler: scribble}, "with other contents"},
		"an add told twice":                           {broken{handler: stutter}, "it was there already"},
		"calls after the handler was removed": {broken{handler: neverLeaves()},
			"calls began after the handler was removed"},
		"a handler that is given something else": {broken{handler: nonsense}, "OnAdd with a string"},
		"an object back from the dead":           {broken{handler: resurrect}, "it is dead"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				verdict := fmt.Sprint(Some(trial(t, test.defect)))
				if !strings.Contains(verdict, test.want) {
					t.Errorf("the verdict is %s\nwant %q in it", verdict, test.want)
				}
			})
		})
	}
}
