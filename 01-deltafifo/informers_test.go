// Which queue client-go's informers use today, as their calls show.

package main

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

func realPod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns1", ResourceVersion: version}}
}

// run runs an informer until the test ends, on a server that has nothing at
// first, and returns the watch.
func run(t *testing.T, handler cache.ResourceEventHandler) *watch.FakeWatcher {
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

// wantCalls wants these calls of the handler, in this order. A minute without one means that none comes.
func wantCalls(t *testing.T, got <-chan string, want ...string) {
	t.Helper()
	var seen []string
	for range want {
		select {
		case call := <-got:
			seen = append(seen, call)
		case <-time.After(time.Minute):
			t.Fatalf("delivered %v and no more, want %v", seen, want)
		}
	}
	expect.That(t, slices.Equal(seen, want), "delivered %v, want %v", seen, want)
}

// The handler is busy with pod0 while three events arrive (the queue is not
// locked meanwhile); they come out as they came in.
func TestInformersDeliverInTheOrderOfArrival(t *testing.T) {
	busy, arrived := make(chan struct{}), make(chan struct{})
	got := make(chan string, 4)
	watcher := run(t, cache.ResourceEventHandlerFuncs{
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
	watcher.Action(watch.Bookmark, realPod("", "6")) // taken only when what came before is queued
	close(arrived)
	wantCalls(t, got, "add pod0", "add pod1", "add pod2", "update pod1")
}

// A DeltaFIFO would drop the delete of a pod that nobody knows.
func TestInformersQueueInARealFIFO(t *testing.T) {
	got := make(chan string, 2)
	watcher := run(t, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { got <- "add " + obj.(*corev1.Pod).Name },
		DeleteFunc: func(obj any) { got <- "delete " + obj.(*corev1.Pod).Name },
	})
	watcher.Delete(realPod("ghost", "2"))
	watcher.Add(realPod("pod1", "3"))
	wantCalls(t, got, "delete ghost", "add pod1")
}

func TestInOrderInformersCannotBeSwitchedOff(t *testing.T) {
	said, err := must.RunAgain(t, "TestInformersQueueInARealFIFO", "KUBE_FEATURE_InOrderInformers=false")
	expect.That(t, err == nil, "switched off: %v\n%s", err, said)
}
