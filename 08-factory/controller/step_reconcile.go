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

// stepReconcile runs the controller of package notices on our informers. It prints the controller's
// log, without the time.
func stepReconcile(ctx context.Context, l *step.Lesson) error {
	defer removeFinalizers(l)
	ctx = klog.NewContext(ctx, logger(ctx, l.Out, "level"))
	ours := func(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions,
	) cache.SharedIndexInformer {
		return informer.New(lw, example, options) // or cache.NewSharedIndexInformerWithOptions
	}
	return notices.Run(ctx, l.Config, l.Namespace, notices.Options{NewInformer: ours})
}

// removeFinalizers removes the finalizers of all notices. If you end a step early, notices are
// left, and no controller runs that would remove their finalizers. Then the step's namespace could
// not be removed.
func removeFinalizers(l *step.Lesson) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return // the step has made no notices, because it has had the same error
	}
	left := client.Resource(notices.Resource).Namespace(l.Namespace)
	list, err := left.List(ctx, metav1.ListOptions{})
	if err != nil {
		return // the type is not defined, or the server does not answer: kubectl reports it
	}
	for _, notice := range list.Items {
		_, _ = left.Patch(ctx, notice.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
			metav1.PatchOptions{}) // an error is fine: the notice may be gone by now
	}
}
