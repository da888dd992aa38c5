package main

import (
	"context"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/step"
)

// stepReconcile runs the controller of package notices on our informers. What you
// see is its log, without the time.
func stepReconcile(ctx context.Context, l *step.Lesson) error {
	ctx = klog.NewContext(ctx, logger(l.Out, "level"))
	ours := func(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions,
	) cache.SharedIndexInformer {
		return informer.New(lw, example, options) // or cache.NewSharedIndexInformerWithOptions
	}
	return notices.Run(ctx, l.Config, l.Namespace, ours)
}
