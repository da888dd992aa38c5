package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/step"
)

// stepTombstone cuts the WatchDog off from the server while an object is
// deleted. The next list lacks it, and OnDelete gets a tombstone. For each object
// that is in the list, OnUpdate is called once more.
func stepTombstone(ctx context.Context, l *step.Lesson) error {
	proxy, err := netfault.For(l.Config)
	if err != nil {
		return err
	}
	defer proxy.Close()
	config := rest.CopyConfig(l.Config)
	config.Dial = proxy.Dial // all bytes of this client go through the proxy
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	l.On("the cable is pulled out", proxy.Pull)
	l.On("the cable is plugged in", func() {
		// Not before the reflector has failed to reach the server: then it has to list.
		wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) { return proxy.DialFailed(), nil })
		proxy.Restore()
	})

	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", l.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")), // which every namespace has
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { fmt.Fprintln(l.Out, "OnAdd :", obj.(*corev1.ConfigMap).Name) },
			UpdateFunc: func(_, newObj any) { fmt.Fprintln(l.Out, "OnUpdate :", newObj.(*corev1.ConfigMap).Name) },
			DeleteFunc: func(obj any) {
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					fmt.Fprintln(l.Out, "OnDelete : a tombstone :", tombstone.Obj.(*corev1.ConfigMap).Name)
					return
				}
				fmt.Fprintln(l.Out, "OnDelete :", obj.(*corev1.ConfigMap).Name)
			},
		},
	})
	if err != nil {
		return err
	}
	return dog.Run(ctx) // nil, when the context ends
}
