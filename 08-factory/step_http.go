package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepHTTP serves the caches of a factory. No page costs the API server a request.
func stepHTTP(ctx context.Context, l *step.Lesson) error {
	f := factory.New(l.Client, factory.Options{
		Namespace: l.Namespace,
		Kinds:     true, // a client sees the kind of each object
		Transform: func(obj any) (any, error) {
			object, err := meta.Accessor(obj)
			if err != nil {
				return nil, err
			}
			object.SetManagedFields(nil)
			return obj, nil
		},
	})
	defer f.Shutdown()
	caches, err := newSite(f, secrets)
	if err != nil {
		return err
	}
	server, err := web.Start(ctx, web.Addr(addr, l.Follow), caches.pages())
	if err != nil {
		return err
	}
	l.On("the factory starts", func() { f.Start(ctx) })
	l.On("the requests are counted", func() { fmt.Fprintln(l.Out, "requests to the API server :", l.Requests) })
	l.ServesAt(strings.TrimPrefix(server.URL(), "http://"))
	fmt.Fprintln(l.Out, "serving at", server.URL())
	return server.Wait()
}
