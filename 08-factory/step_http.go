package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/web"
)

// stepHTTP serves the caches of a factory. No page costs the API server a request.
func stepHTTP(ctx context.Context, env *step.Env) error {
	f := factory.New(env.Client, factory.Options{Namespace: env.Namespace, Kinds: true}) // objects with their kinds
	defer f.Shutdown()
	resources := []schema.GroupVersionResource{factory.Pods, factory.Services, factory.Deployments}
	if secrets { // the flag -secrets: what is not cached cannot leak
		resources = append(resources, corev1.SchemeGroupVersion.WithResource("secrets"))
	}

	gin.SetMode(gin.ReleaseMode) // or else gin prints its routes
	r := gin.New()
	r.GET("/healthz", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"live": true}) })
	var caches []cache.SharedIndexInformer
	r.Use(func(c *gin.Context) { // before each route below
		for i, informer := range caches {
			if !informer.HasSynced() {
				c.AbortWithStatusJSON(http.StatusServiceUnavailable,
					gin.H{"error": "waiting for the first list of " + resources[i].Resource})
				return
			}
		}
	})
	r.GET("/readyz", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"ready": true}) })
	r.GET("/", func(c *gin.Context) { c.JSON(http.StatusOK, f.Pods().Informer().GetIndexer().List()) })
	for _, resource := range resources {
		made, err := f.ForResource(resource)
		if err != nil {
			return err
		}
		caches = append(caches, made.Informer())
		store := made.Informer().GetStore()
		r.GET("/"+resource.Resource, func(c *gin.Context) { c.JSON(http.StatusOK, store.List()) })
		r.GET("/"+resource.Resource+"/:namespace/:name", func(c *gin.Context) {
			if obj, exists, _ := store.GetByKey(c.Param("namespace") + "/" + c.Param("name")); exists {
				c.JSON(http.StatusOK, obj)
			} else {
				c.JSON(http.StatusNotFound, gin.H{"error": "there is no such object"})
			}
		})
	}
	server, err := web.Serve(ctx, web.Addr(addr, env.Follow), r)
	if err != nil {
		return err
	}
	f.Start(ctx) // the server answers already: with 503, until the caches are complete
	env.On("the requests are counted", func() { fmt.Fprintln(env.Out, "requests to the API server :", env.Requests) })
	env.ServesAt(strings.TrimPrefix(server.URL(), "http://"))
	fmt.Fprintln(env.Out, "serving at", server.URL())
	return server.Wait()
}
