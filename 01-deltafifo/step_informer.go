package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"

	"example.com/informer/scripts/harness/step/play"
)

// stepInformer runs client-go's shared informer on a server in memory, which is client-go's, too.
// An action, env.On, is something that happens to this server, or to the program.
func stepInformer(ctx context.Context, env *play.Env) error {
	server := cachetesting.NewFakeControllerSource()
	defer server.Shutdown()
	pod := func(name string, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: phase}}
	}
	server.Add(pod("web", corev1.PodRunning))

	informer := cache.NewSharedIndexInformer(server, &corev1.Pod{}, 0, cache.Indexers{})
	addHandler := func(handler string) {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, isInInitialList bool) {
				p := obj.(*corev1.Pod)
				fmt.Fprintf(env.Out, "%s : OnAdd : %s : %s (initial list: %t)\n",
					handler, p.Name, p.Status.Phase, isInInitialList)
			},
			UpdateFunc: func(oldObj, newObj any) {
				old, p := oldObj.(*corev1.Pod), newObj.(*corev1.Pod)
				fmt.Fprintf(env.Out, "%s : OnUpdate : %s : %s (version %s, was %s)\n",
					handler, p.Name, p.Status.Phase, p.ResourceVersion, old.ResourceVersion)
			},
			DeleteFunc: func(obj any) {
				switch gone := obj.(type) {
				case *corev1.Pod:
					fmt.Fprintf(env.Out, "%s : OnDelete : %s : %s\n", handler, gone.Name, gone.Status.Phase)
				case cache.DeletedFinalStateUnknown: // a tombstone: the informer missed the delete itself
					fmt.Fprintf(env.Out, "%s : OnDelete : %s : a tombstone\n", handler, gone.Key)
				}
			},
		})
		if err != nil {
			fmt.Fprintln(env.Out, handler, ":", err)
		}
	}

	env.On("db is created, and begins to run", func() {
		server.Add(pod("db", corev1.PodPending))
		server.Modify(pod("db", corev1.PodRunning))
	})
	env.On("job is created, and deleted", func() {
		server.Add(pod("job", corev1.PodPending))
		server.Delete(pod("job", corev1.PodPending))
	})
	env.On("web is deleted while the connection is down, and the server forgets its history", func() {
		server.DeleteDropWatch(pod("web", corev1.PodRunning)) // sends no event
		server.ResetWatch()                                   // ends the watch, and drops the history
	})
	env.On("a second handler joins", func() { addHandler("second") })

	addHandler("first")
	informer.RunWithContext(ctx)
	return nil
}
