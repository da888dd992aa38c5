package watchdog_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/fakeapi"
)

// On a cluster, the ListerWatcher comes from cache.NewListWatchFromClient.
func Example() {
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: fakeapi.New(web),
		ObjectType:    &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { fmt.Println("added:", obj.(*corev1.Pod).Name) },
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- dog.Run(ctx) }()

	<-dog.Synced() // from here on the store is complete
	_, exists, _ := dog.Store().GetByKey("default/web")
	fmt.Println("in the store:", exists)

	stop()
	fmt.Println("ended:", <-ended)
	// Output:
	// added: web
	// in the store: true
	// ended: <nil>
}
