// What the handlers of events do: they add keys to the queue, at once, and nothing else.

package notices

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// The first try of an event has no pause: those are for tries after a failure.
func TestAnEventIsReconciledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		copies := f.run(t)
		wantCopies := func(when string, want int) {
			t.Helper()
			began := time.Now()
			for synctest.Wait(); len(copies.GetStore().List()) != want; synctest.Wait() {
				if time.Since(began) > time.Minute {
					t.Fatalf("%s there are %d copies a minute later, want %d",
						when, len(copies.GetStore().List()), want)
				}
				time.Sleep(time.Millisecond)
			}
			if took := time.Since(began); took > 0 {
				t.Errorf("%s the copies were right after %v, want 0s: a first try has no pause", when, took)
			}
		}
		wantCopies("after the first list", 1)
		for _, count := range []int64{2, 3, 1} {
			must.NoError(t, unstructured.SetNestedField(f.picnic.Object, count, "spec", "copies"))
			_, err := f.Resource.Update(t.Context(), f.picnic, metav1.UpdateOptions{})
			must.NoError(t, err)
			wantCopies("after an update of the notice", int(count))
		}
	})
}

// The creates fail, until the next retry is more than ten seconds away. An event does not wait for
// it: it has a try of its own. If that fails, too, the event has not made the pauses any shorter.
func TestAnEventDoesNotWaitForTheNextRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		var tries atomic.Int32
		var works atomic.Bool
		f.client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, apiruntime.Object, error) {
			tries.Add(1)
			return !works.Load(), nil, errors.New("out of luck")
		})
		noStatus := func(action clienttesting.Action) (bool, apiruntime.Object, error) {
			return action.GetSubresource() == "status", nil, nil // its event would add the key
		}
		f.dynamicClient.PrependReactor("update", "notices", noStatus)
		copies := f.run(t)
		changeText := func(text string) {
			t.Helper()
			picnic, err := f.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
			must.NoError(t, err)
			must.NoError(t, unstructured.SetNestedField(picnic.Object, text, "spec", "text"))
			_, err = f.Resource.Update(t.Context(), picnic, metav1.UpdateOptions{})
			must.NoError(t, err)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		before := tries.Load()
		changeText("on Monday")
		if got := tries.Load() - before; got != 1 {
			t.Errorf("the notice has changed before its next retry, and there were %d tries at once, want 1", got)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := tries.Load() - before; got > 1 {
			t.Errorf("there were %d tries in the ten seconds after an event, want 1: the pauses are long by now", got)
		}
		works.Store(true)
		changeText("on Tuesday")
		var texts []string
		for _, made := range copies.GetStore().List() {
			texts = append(texts, made.(*corev1.ConfigMap).Data["text"])
		}
		if want := []string{"on Tuesday"}; !slices.Equal(texts, want) {
			t.Errorf("creates work, and the notice has changed before its next retry: the copies have the texts %q, "+
				"want %q", texts, want)
		}
	})
}

// A handledInformer remembers its handlers.
type handledInformer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

func (i *handledInformer) AddEventHandler(handler cache.ResourceEventHandler) (
	cache.ResourceEventHandlerRegistration, error,
) {
	i.handlers = append(i.handlers, handler)
	return i.SharedIndexInformer.AddEventHandler(handler)
}

// Even a delete is for the workers: there may be a new notice of this name by now.
func TestEveryEventOfANoticeOnlyAddsItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		picnic := f.picnic
		must.NoError(t, f.Notices.Add(picnic))
		c := newController(f.Reconciler)
		defer c.queue.ShutDown()
		notices := &handledInformer{SharedIndexInformer: cache.NewSharedIndexInformer(nil, nil, 0, nil)}
		copies := &handledInformer{SharedIndexInformer: cache.NewSharedIndexInformer(nil, nil, 0, nil)}
		_, err := c.addHandlers(notices, copies)
		must.NoError(t, err)
		for name, call := range map[string]func(cache.ResourceEventHandler){
			"OnAdd":    func(h cache.ResourceEventHandler) { h.OnAdd(picnic, false) },
			"OnUpdate": func(h cache.ResourceEventHandler) { h.OnUpdate(picnic, picnic) },
			"OnDelete": func(h cache.ResourceEventHandler) { h.OnDelete(picnic) },
			"OnDelete with a tombstone": func(h cache.ResourceEventHandler) {
				h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/picnic", Obj: picnic})
			},
		} {
			for _, handler := range notices.handlers {
				call(handler)
			}
			if requests := len(f.client.Actions()) + len(f.dynamicClient.Actions()); requests > 0 {
				t.Errorf("%s makes %d requests, want none", name, requests)
			}
			if c.queue.Len() != 1 {
				t.Fatalf("%d keys in the queue after %s, want 1", c.queue.Len(), name)
			}
			key, _ := c.queue.Get()
			if key != "ns/picnic" {
				t.Errorf("%s adds %q, want %q", name, key, "ns/picnic")
			}
			c.queue.Done(key)
		}
	})
}

// While the ConfigMaps cannot be listed, the notices are there, and nothing is written: without the
// copies that exist, each notice looks as if it had none. After that, the workers write. A handler
// that writes blocks all events behind it, and no Lease and no deadline stops it.
func TestOnlyWorkersWriteAndNotBeforeTheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		var listed atomic.Bool
		f.client.PrependReactor("list", "configmaps", func(clienttesting.Action) (bool, apiruntime.Object, error) {
			return !listed.Load(), nil, errors.New("out of luck")
		})
		var writes atomic.Int32
		check := func(action clienttesting.Action) (bool, apiruntime.Object, error) {
			verb := action.GetVerb()
			if verb == "get" || verb == "list" || verb == "watch" {
				return false, nil, nil
			}
			writes.Add(1)
			request := verb + " " + action.GetResource().Resource
			if !listed.Load() {
				t.Errorf("%s before the ConfigMaps were listed, want no write before the sync", request)
			}
			stack := make([]byte, 1<<16)
			if stack = stack[:runtime.Stack(stack, false)]; !strings.Contains(string(stack), ".processNext(") {
				t.Errorf("%s is not a request of a worker (processNext), want that only workers write", request)
			}
			return false, nil, nil
		}
		f.client.PrependReactor("*", "*", check)
		f.dynamicClient.PrependReactor("*", "*", check)
		copies := f.run(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		listed.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(copies.GetStore().List()) != 1 || writes.Load() == 0 {
			t.Errorf("there are %d copies after %d writes, want 1", len(copies.GetStore().List()), writes.Load())
		}
	})
}

// While a worker has a key, no other worker gets it. If it was added meanwhile, it comes again when
// the worker is through with it.
func TestNoTwoWorkersHaveTheSameKey(t *testing.T) {
	f := newFixture()
	must.NoError(t, f.Notices.Add(f.picnic))
	c := newController(f.Reconciler)
	defer c.queue.ShutDown()
	f.client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, apiruntime.Object, error) {
		c.queue.Add("ns/picnic") // an event, while the worker is in its Reconcile
		if waiting := c.queue.Len(); waiting != 0 {
			t.Errorf("a worker has ns/picnic, and the queue has %d key for another worker, want 0", waiting)
		}
		return false, nil, nil
	})
	c.queue.Add("ns/picnic")
	c.processNext(t.Context())
	if waiting := c.queue.Len(); waiting != 1 {
		t.Errorf("the worker is through with ns/picnic, and the queue has %d keys, want 1", waiting)
	}
}
