package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/web"
)

// stepHTTP serves the index of an informer. It does not listen before the store is complete.
func stepHTTP(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(
		env.Client.CoreV1().RESTClient(), "pods", env.Namespace, fields.Everything())
	pods := informer.New(listWatch, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{"namespace": indexer.ByNamespace, "app": indexer.ByLabel("app")}, // of chapter 04
	})
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { pods.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", pods.HasSyncedChecker()) {
		return ctx.Err()
	}
	index := pods.GetIndexer()

	gin.SetMode(gin.ReleaseMode) // or else gin prints its routes
	r := gin.New()
	r.GET("/", func(c *gin.Context) {
		keys, _ := index.IndexKeys("app", "mysqltest") // no error: the index exists
		c.JSON(http.StatusOK, keys)
	})
	r.GET("/indexes", func(c *gin.Context) {
		all := gin.H{}
		for name := range index.GetIndexers() {
			values := index.ListIndexFuncValues(name)
			slices.Sort(values)
			all[name] = values
		}
		c.JSON(http.StatusOK, all)
	})
	r.GET("/indexes/:name/:value", func(c *gin.Context) {
		keys, err := index.IndexKeys(c.Param("name"), c.Param("value"))
		if err != nil {
			c.JSON(http.StatusNotFound, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, keys)
	})
	server, err := web.Serve(ctx, web.Addr(addr, env.Follow), r) // as r.Run(":4000"), but protected
	if err != nil {
		return err
	}
	env.ServesAt(strings.TrimPrefix(server.URL(), "http://"))
	return server.Wait()
}
