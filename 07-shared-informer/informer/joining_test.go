// Tests of the moment in which a handler joins.

package informer_test

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A setFunc is a metric. It is called when the metric is set.
type setFunc func()

func (f setFunc) Set(float64) { f() }

// storeMetrics is a metrics provider that calls set when the version of the store changes.
type storeMetrics struct {
	gauges
	set setFunc
}

func (m *storeMetrics) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return m.set
}

// wantLocked checks that somebody holds a lock of the informer.
func wantLocked(t *testing.T, name string, lock *sync.Mutex, when string) {
	t.Helper()
	if lock.TryLock() {
		lock.Unlock()
		t.Errorf("%s is not locked %s", name, when)
	}
}

// A change between the snapshot of the store and the handler's place in the journal would be lost.
// A handler that joined between a change and its notification would get the change twice. And the
// caller does not wait for the handler.
func TestNothingChangesWhileAHandlerJoins(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		var i *informer.Informer
		informerName, err := cache.NewInformerName("TestNothingChangesWhileAHandlerJoins")
		must.NoError(t, err)
		defer informerName.Release()
		opts := options()
		opts.Identifier = informerName.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
		opts.InformerMetricsProvider = &storeMetrics{set: func() {
			wantLocked(t, "blockDeltas", i.BlockDeltas(), "when the store changes")
		}}
		r := newRig(newInformer, opts, configMap("a", "1"))
		i = r.SharedIndexInformer.(*informer.Informer)
		must.NoError(t, i.SetObserver(observer.Func(func(event any) {
			switch e := event.(type) {
			case processor.Joined:
				wantLocked(t, "startedLock", i.StartedLock(), "when a handler joins")
				wantLocked(t, "blockDeltas", i.BlockDeltas(), "when a handler joins")
				if e.Registration.HandlerName() == "" {
					t.Error("a handler without a name joins: observers could not tell it from others")
				}
			case informer.Stored:
				wantLocked(t, "blockDeltas", i.BlockDeltas(), "when the handlers are notified of "+e.Key)
				if isAdd := e.Kind == processor.Added; isAdd != (e.Old == nil) {
					t.Errorf("a change of %s, an add: %t; the old object is %v", e.Key, isAdd, e.Old)
				}
			}
		})))
		r.run(t)
		joined, release := false, make(chan struct{})
		go func() {
			r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-release }})
			joined = true
		}()
		synctest.Wait()
		if !joined {
			t.Error("AddEventHandler has not returned while the handler is busy")
		}
		close(release)
		r.recorder(t).Want(t, "OnAdd a 1 first")
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Delete(configMap("a", "3"))
		r.server.Set() // b is gone, too
		fakeapi.Expire(w)
		r.server.NextWatch()
	})
}

// A transform runs without the lock: it may be slow, or call a method that takes the lock.
func TestATransformRunsWithoutTheLock(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		i := r.SharedIndexInformer.(*informer.Informer)
		must.NoError(t, i.SetTransform(func(obj any) (any, error) {
			if !i.BlockDeltas().TryLock() {
				t.Error("blockDeltas is locked during a transform: if it calls AddEventHandler, it waits forever")
			} else {
				i.BlockDeltas().Unlock()
			}
			return obj, nil
		}))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		w.Delete(configMap("a", "3"))
		handler.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "OnDelete a 3")
	})
}

// The goroutine of the handler reads the present objects later. They are those of the moment in
// which the handler joined.
func TestALateHandlerGetsTheStateOfTheMoment(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		i := r.SharedIndexInformer.(*informer.Informer)
		must.NoError(t, i.SetObserver(observer.Func(func(event any) {
			if _, ok := event.(processor.Joined); !ok {
				return
			}
			_, err := i.GetIndexer().(informer.Store).Put("ns/b", configMap("b", "2")) // after the look at the store
			must.NoError(t, err)
		})))
		r.run(t)
		r.recorder(t).Want(t, "OnAdd a 1 first")
	})
}

// AddIndexers holds startedLock. Who takes blockDeltas first, and then waits for startedLock, can
// wait forever: ResyncNow takes them in the other order.
func TestAHandlerThatJoinsTakesStartedLockFirst(t *testing.T) {
	r := newRig(partTwo, options())
	i := r.SharedIndexInformer.(*informer.Informer)
	_, err := i.GetIndexer().(informer.Store).Put("ns/a", configMap("a", "1"))
	must.NoError(t, err)
	var joining sync.WaitGroup
	must.NoError(t, r.AddIndexers(cache.Indexers{"locks": func(any) ([]string, error) {
		joining.Go(func() { r.handle(t, cache.ResourceEventHandlerFuncs{}) })
		for range 10_000 {
			runtime.Gosched() // until the other goroutine waits for startedLock
		}
		if !i.BlockDeltas().TryLock() {
			t.Error("AddEventHandler holds blockDeltas while it waits for startedLock")
		} else {
			i.BlockDeltas().Unlock()
		}
		return nil, nil
	}}))
	joining.Wait()
}
