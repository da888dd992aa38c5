package main

import (
	"context"
	"fmt"
	"net"
	"sync"

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
	env.On("the first replica is cut off", proxy.Pull)
	<-ctx.Done()
	return nil
}
