package deltafifo_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// Two pods change. One Pop returns all deltas of one pod.
func Example() {
	queue := deltafifo.New(deltafifo.Options{})
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	db := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"}}
	for _, change := range []func() error{
		func() error { return queue.Add(web) },
		func() error { return queue.Add(db) },
		func() error { return queue.Update(web) },
		func() error { return queue.Delete(web) },
	} {
		if err := change(); err != nil {
			log.Fatal(err)
		}
	}
	for range 2 {
		err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
			for _, delta := range deltas {
				fmt.Println(delta.Type, delta.Object.(*corev1.Pod).Name)
			}
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// Added web
	// Updated web
	// Deleted web
	// Added db
}
