package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepDynamic serves the objects of the step's namespace, of any resource. Reads come from the
// factory's caches. Writes go to the API server.
func stepDynamic(ctx context.Context, l *step.Lesson) error {
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfig(l.Config)
	if err != nil {
		return err
	}
	f := factory.New(l.Client, factory.Options{Namespace: l.Namespace, Dynamic: client, Kinds: true})
	defer f.Shutdown()
	api := &resources{
		ctx:       ctx,
		client:    client,
		factory:   f,
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discoveryClient)),
		namespace: l.Namespace,
	}
	secret := "/" + rand.Text() // each user of this machine can reach the server, which writes with your rights
	server, err := web.Start(ctx, addr, web.Pages{
		secret + "/:resource":                   api.list,
		secret + "/:resource/:name":             api.get,
		"POST " + secret + "/:resource":         api.create,
		"PUT " + secret + "/:resource/:name":    api.update,
		"DELETE " + secret + "/:resource/:name": api.delete,
	})
	if err != nil {
		return err
	}
	l.ServesAt(strings.TrimPrefix(server.URL()+secret, "http://"))
	fmt.Fprintln(l.Out, "serving at", server.URL()+secret)
	return server.Wait()
}
