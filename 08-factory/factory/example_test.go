package factory_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
)

func Example() {
	ctx := context.Background()
	client := fake.NewClientset( // or one of a cluster
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}},
	)
	f := factory.New(client, factory.Options{Namespace: "shop", Kinds: true})
	defer f.Shutdown()

	pods, nodes := f.Pods(), f.Nodes() // makes the informers, and does not start them
	handler, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("OnAdd", obj.(*corev1.Pod).Name) },
	})
	if err != nil {
		log.Fatal(err)
	}
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		log.Fatal(err)
	}
	cache.WaitFor(ctx, "", handler.HasSyncedChecker()) // the handler, too, has received the first list

	pod, err := pods.Lister().Pods("shop").Get("web")
	fmt.Println(pod.Kind, pod.Name, err)
	all, err := nodes.Lister().List(labels.Everything())
	fmt.Println(len(all), "node", err)

	f.Forget(factory.Pods)
	_, err = f.Pods().Lister().Pods("shop").Get("web") // the lister of a new informer, which has not started
	fmt.Println(err)
	// Output:
	// OnAdd web
	// Pod web <nil>
	// 1 node <nil>
	// pod "web" not found
}
