// Claims of the book about the queue of client-go's informers. The calls of a handler show which
// queue they use.

package main

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// realPod returns a Kubernetes pod, not a toy pod.
func realPod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns1", ResourceVersion: version}}
}

// runInformer runs an informer until the test ends. Its server lists no objects. It returns the
// watch of the informer.
func runInformer(t *testing.T, handler cache.ResourceEventHandler) *watch.FakeWatcher {
	t.Helper()
	server := fakeapi.New()
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: server,
		ObjectType:    &corev1.Pod{},
		Handler:       handler,
	})
	must.Run(t, informer.RunWithContext)
	return server.NextWatch()
}

// wantCalls waits for calls of the handler, and checks their order. It gives up after a minute
// without a call.
func wantCalls(t *testing.T, calls <-chan string, want ...string) {
	t.Helper()
	var got []string
	for range want {
		select {
		case call := <-calls:
			got = append(got, call)
		case <-time.After(time.Minute):
			t.Fatalf("calls of the handler: %q and no more, want %q", got, want)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("calls of the handler: %q, want %q", got, want)
	}
}

// The handler is busy with pod0 while three events arrive. (The queue is not locked meanwhile.) The
// handler gets the events in the order of their arrival.
func TestInformersDeliverInTheOrderOfArrival(t *testing.T) {
	busy, arrived := make(chan struct{}), make(chan struct{})
	got := make(chan string, 4)
	watcher := runInformer(t, cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			pod := obj.(*corev1.Pod)
			if pod.Name == "pod0" {
				close(busy)
				select {
				case <-arrived:
				case <-time.After(time.Minute):
					t.Error("nothing arrives while the handler is busy")
				}
			}
			got <- "add " + pod.Name
		},
		UpdateFunc: func(_, obj any) { got <- "update " + obj.(*corev1.Pod).Name },
	})
	watcher.Add(realPod("pod0", "2"))
	<-busy
	watcher.Add(realPod("pod1", "3"))
	watcher.Add(realPod("pod2", "4"))
	watcher.Modify(realPod("pod1", "5"))
	watcher.Action(watch.Bookmark, realPod("", "6")) // the reflector takes it when it has queued the events before it
	close(arrived)
	wantCalls(t, got, "add pod0", "add pod1", "add pod2", "update pod1")
}

// At the first call for a new list, the store has all of this list, and nothing else. The list is
// longer than a batch of changes, which enters the store in one step, too.
func TestAListChangesTheStoreInOneStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, after []runtime.Object
		for i := range 2500 {
			before = append(before, realPod(fmt.Sprint("pod", i), "1"))
			after = append(after, realPod(fmt.Sprint("pod", i+1), "2"))
		}
		server := fakeapi.New(before...)
		var store cache.Store
		var updates, deletes int
		count := func(calls *int) {
			*calls++
			if updates+deletes > 1 {
				return
			}
			old := 0
			for _, obj := range store.List() {
				if obj.(*corev1.Pod).ResourceVersion != "2" {
					old++
				}
			}
			if old > 0 {
				t.Errorf("at the first call for the new list, the store has %d objects of the list before", old)
			}
		}
		store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: server,
			ObjectType:    &corev1.Pod{},
			Handler: cache.ResourceEventHandlerFuncs{
				UpdateFunc: func(any, any) { count(&updates) },
				DeleteFunc: func(any) { count(&deletes) },
			},
		})
		must.Run(t, informer.RunWithContext)
		w := server.NextWatch()
		synctest.Wait()
		server.SetVersion("2", after...)
		fakeapi.Expire(w)
		server.NextWatch()
		synctest.Wait()
		if updates != 2499 || deletes != 1 {
			t.Errorf("%d updates and %d deletes, want 2499 and 1", updates, deletes)
		}
	})
}

// A DeltaFIFO would drop the delete of a pod that nobody knows.
func TestInformersQueueInARealFIFO(t *testing.T) {
	got := make(chan string, 2)
	watcher := runInformer(t, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { got <- "add " + obj.(*corev1.Pod).Name },
		DeleteFunc: func(obj any) { got <- "delete " + obj.(*corev1.Pod).Name },
	})
	watcher.Delete(realPod("ghost", "2"))
	watcher.Add(realPod("pod1", "3"))
	wantCalls(t, got, "delete ghost", "add pod1")
}

func TestInOrderInformersCannotBeSwitchedOff(t *testing.T) {
	said, err := must.RunInSubprocess(t, "TestInformersQueueInARealFIFO", "KUBE_FEATURE_InOrderInformers=false")
	if err != nil {
		t.Errorf("with InOrderInformers=false, TestInformersQueueInARealFIFO ends with %v, want nil; its output:\n%s",
			err, said)
	}
}
