package processor_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

// Two handlers, each notified of the same change, each in a goroutine of its own.
func Example() {
	p := processor.New(processor.NewChannels())
	p.Start()
	defer p.Stop()

	calls := make(chan string)
	for range 2 {
		_, err := p.Add(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { calls <- "OnAdd " + obj.(*corev1.Pod).Name },
		}, processor.Options{})
		if err != nil {
			log.Fatal(err)
		}
	}
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	p.Distribute(processor.Notification{Kind: processor.Added, Key: "default/web", New: web})
	fmt.Println(<-calls)
	fmt.Println(<-calls)
	// Output:
	// OnAdd web
	// OnAdd web
}
