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
	"example.com/informer/07-shared-informer/web"
	"example.com/informer/08-factory/metrics"
	"example.com/informer/scripts/harness/step"
)

// A mailer is a handler that needs a mail server. Informers ask it for its name, which is
// a label of its metrics.
type mailer struct {
	ctx        context.Context
	mailServer chan struct{} // full while the server hangs
}

func (m mailer) Name() string { return "mailer" }

func (m mailer) OnAdd(any, bool) {
	select {
	case m.mailServer <- struct{}{}:
		<-m.mailServer
	case <-m.ctx.Done():
	}
}

func (m mailer) OnUpdate(any, any) {}

func (m mailer) OnDelete(any) {}

// stepMetrics serves the metrics of two informers with that handler: ours and client-go's.
func stepMetrics(ctx context.Context, l *step.Lesson) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	handler := mailer{ctx, make(chan struct{}, 1)}
	l.On("the mail server hangs", func() { handler.mailServer <- struct{}{} })
	l.On("the mail server goes on", func() { <-handler.mailServer })

	registry, measured := prometheus.NewRegistry(), metrics.New("configmaps")
	registry.MustRegister(measured)
	listWatch := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt"))
	ours := informer.New(listWatch, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	if err := ours.SetObserver(measured); err != nil {
		return err
	}
	name, err := cache.NewInformerName(l.Namespace) // or any other that is not in use
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

	server, err := web.Start(ctx, addr, web.Pages{
		"/metrics": gin.WrapH(promhttp.HandlerFor(registry, promhttp.HandlerOpts{})),
	})
	if err != nil {
		return err
	}
	l.ServesAt(strings.TrimPrefix(server.URL(), "http://"))
	return server.Wait()
}
