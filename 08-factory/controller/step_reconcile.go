package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/step"
)

// stepReconcile runs the controller of package notices on our informers. What you
// see is its log, without the time.
func stepReconcile(ctx context.Context, l *step.Lesson) error {
	defer removeFinalizers(l)
	ctx = klog.NewContext(ctx, logger(ctx, l.Out, "level"))
	ours := func(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions,
	) cache.SharedIndexInformer {
		return informer.New(lw, example, options) // or cache.NewSharedIndexInformerWithOptions
	}
	return notices.Run(ctx, l.Config, l.Namespace, ours)
}

// removeFinalizers lets go the notices that are left when you end the step early: else
// the step's namespace could not be removed, because nobody is there for the finalizer.
func removeFinalizers(l *step.Lesson) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return // nothing was made with this configuration
	}
	left := client.Resource(notices.Resource).Namespace(l.Namespace)
	list, err := left.List(ctx, metav1.ListOptions{})
	if err != nil {
		return // there is no such type, or no server: kubectl says what is wrong
	}
	for _, notice := range list.Items {
		_, _ = left.Patch(ctx, notice.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
			metav1.PatchOptions{}) // it may be gone by now
	}
}
