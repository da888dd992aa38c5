package main

import (
	"context"
	"fmt"
	"net"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/step"
)

// stepLeader runs two replicas of the controller of package notices, which share a Lease. The first
// replica gets the Lease, and is cut off.
func stepLeader(ctx context.Context, env *step.Env) error {
	defer removeFinalizers(env)
	first, second := rest.CopyConfig(env.Config), rest.CopyConfig(env.Config)
	proxy, err := fault.For(first)
	if err != nil {
		return err
	}
	defer proxy.Close()
	first.Dial = proxy.Dial
	var requests fault.Requests // of the second replica
	second.Wrap(requests.Wrap)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	env.ServesAt(listener.Addr().String())

	run := func(identity string, config *rest.Config, health net.Listener) {
		replica := klog.NewContext(ctx, logger(ctx, speaker{identity, env.Out}))
		err := notices.Run(replica, config, env.Namespace, notices.Options{
			Lease:       "notices",
			Identity:    identity,
			Health:      health,
			NewInformer: informer.Default.New,
		})
		if err != nil {
			fmt.Fprintf(env.Out, "%s : Run returns: %v\n", identity, err)
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
	env.On("the second replica starts", start)
	env.On("the second replica counts its lists", func() {
		fmt.Fprintf(env.Out, "second : lists: %d\n", requests.Lists())
	})
	seen := &corev1.ConfigMapList{} // what the cache of the first replica has when it is cut off
	env.On("the first replica is cut off", func() {
		seen, _ = env.Client.CoreV1().ConfigMaps(env.Namespace).List(ctx, metav1.ListOptions{})
		proxy.Pull()
	})
	env.On("late writes of the first replica arrive", func() {
		for _, old := range seen.Items {
			writeLate(ctx, env, &old)
		}
	})
	<-ctx.Done()
	return nil
}

// writeLate makes writes as a replica could have sent them before it was cut off, and that the
// network delivers late. They are about a copy as the replica has seen it. The delete carries only
// the UID, unlike those of notices.
func writeLate(ctx context.Context, env *step.Env, seen *corev1.ConfigMap) {
	configMaps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	report := func(write string, err error) {
		result := "done"
		if err != nil {
			result = string(apierrors.ReasonForError(err))
		}
		fmt.Fprintf(env.Out, "late : %s %s: %s\n", write, seen.Name, result)
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
