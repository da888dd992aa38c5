package main

import (
	"context"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/metrics"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/web"
)

// A mailer is a handler with a name. Its metrics have the name as a label.
type mailer struct {
	cache.ResourceEventHandlerFuncs
}

func (mailer) Name() string { return "mailer" }

// stepMetrics serves the metrics of two informers, ours and client-go's. Both have the same
// handler.
func stepMetrics(ctx context.Context, env *step.Env) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	mailServer := make(chan struct{}, 1) // full while the mail server is busy or hangs
	env.On("the mail server hangs", func() { mailServer <- struct{}{} })
	env.On("the mail server goes on", func() { <-mailServer })
	handler := mailer{cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		select {
		case mailServer <- struct{}{}:
			<-mailServer
		case <-ctx.Done():
		}
	}}}

	registry, measured := prometheus.NewRegistry(), metrics.New("configmaps")
	registry.MustRegister(measured)
	listWatch := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt"))
	ours := informer.New(listWatch, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	if err := ours.SetObserver(measured); err != nil {
		return err
	}
	name, err := cache.NewInformerName(env.Namespace) // any name that is not in use
	if err != nil {
		return err
	}
	defer name.Release()
	theirs := cache.NewSharedIndexInformerWithOptions(listWatch, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
		Identifier:              name.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps")),
		InformerMetricsProvider: metrics.ClientGo(registry),
	})
	for _, i := range []cache.SharedIndexInformer{ours, theirs} {
		if _, err := i.AddEventHandler(handler); err != nil {
			return err
		}
		running.Go(func() { i.RunWithContext(ctx) })
	}

	gin.SetMode(gin.ReleaseMode) // or else gin prints its routes
	r := gin.New()
	r.GET("/metrics", gin.WrapH(promhttp.HandlerFor(registry, promhttp.HandlerOpts{})))
	server, err := web.Serve(ctx, addr, r)
	if err != nil {
		return err
	}
	env.ServesAt(strings.TrimPrefix(server.URL(), "http://"))
	return server.Wait()
}
