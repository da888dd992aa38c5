package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/step"
)

// stepLeader runs two replicas of the controller of package notices, which share a Lease. The first
// replica gets the Lease, and is cut off.
func stepLeader(ctx context.Context, l *step.Lesson) error {
	defer removeFinalizers(l)
	first, second := rest.CopyConfig(l.Config), rest.CopyConfig(l.Config)
	proxy, err := netfault.For(first)
	if err != nil {
		return err
	}
	defer proxy.Close()
	first.Dial = proxy.Dial
	var lists atomic.Int32
	second.Wrap(func(next http.RoundTripper) http.RoundTripper { return listCounter{next, &lists} })
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	l.ServesAt(listener.Addr().String())

	ours := func(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions,
	) cache.SharedIndexInformer {
		return informer.New(lw, example, options)
	}
	run := func(identity string, config *rest.Config, health net.Listener) {
		replica := klog.NewContext(ctx, logger(ctx, speaker{identity, l.Out}))
		err := notices.Run(replica, config, l.Namespace, notices.Options{
			Lease:       "notices",
			Identity:    identity,
			Health:      health,
			NewInformer: ours,
		})
		if err != nil {
			fmt.Fprintf(l.Out, "%s : Run returns: %v\n", identity, err)
		}
	}
	var replicas sync.WaitGroup
	defer replicas.Wait()
	replicas.Go(func() { run("first", first, nil) })
	starting, start := context.WithCancel(ctx)
	defer start()
	replicas.Go(func() {
		<-starting.Done()
		run("second", second, listener)
	})
	l.On("the second replica starts", start)
	l.On("the second replica counts its lists", func() { fmt.Fprintf(l.Out, "second : lists: %d\n", lists.Load()) })
	seen := &corev1.ConfigMapList{} // what the cache of the first replica has when it is cut off
	l.On("the first replica is cut off", func() {
		seen, _ = l.Client.CoreV1().ConfigMaps(l.Namespace).List(ctx, metav1.ListOptions{})
		proxy.Pull()
	})
	l.On("late writes of the first replica arrive", func() {
		for _, old := range seen.Items {
			writeLate(ctx, l, &old)
		}
	})
	<-ctx.Done()
	return nil
}

// writeLate makes writes as a replica could have sent them before it was cut off, and that the
// network delivers late. They are about a copy as the replica has seen it. The delete carries only
// the UID, unlike those of notices.
func writeLate(ctx context.Context, l *step.Lesson, seen *corev1.ConfigMap) {
	configMaps := l.Client.CoreV1().ConfigMaps(l.Namespace)
	report := func(write string, err error) {
		result := "done"
		if err != nil {
			result = string(apierrors.ReasonForError(err))
		}
		fmt.Fprintf(l.Out, "late : %s %s: %s\n", write, seen.Name, result)
	}
	switch seen.Name {
	case "picnic-0": // has been updated since
		_, err := configMaps.Update(ctx, seen, metav1.UpdateOptions{}) // with the resourceVersion of then
		report("update", err)
	case "picnic-1": // has been deleted and created since
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: seen.Name}, Data: seen.Data}
		_, err := configMaps.Create(ctx, made, metav1.CreateOptions{}) // with the same name
		report("create", err)
	default:
		return // not a copy
	}
	err := configMaps.Delete(ctx, seen.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &seen.UID}, // the UID of then
	})
	report("delete", err)
}
