package classic_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/classic"
	"example.com/informer/scripts/harness/fakeapi"
)

// It is used like client-go's informer. On a cluster, the ListerWatcher comes from
// cache.NewListWatchFromClient.
func Example() {
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	pods := classic.New(fakeapi.New(web), &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	})
	handler, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("OnAdd", obj.(*corev1.Pod).Name) },
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { pods.RunWithContext(ctx) })

	cache.WaitFor(ctx, "", pods.HasSyncedChecker(), handler.HasSyncedChecker())
	fmt.Println(pods.GetIndexer().IndexKeys(cache.NamespaceIndex, "default"))

	stop()
	running.Wait()
	fmt.Println("stopped:", pods.IsStopped())
	// Output:
	// OnAdd web
	// [default/web] <nil>
	// stopped: true
}
