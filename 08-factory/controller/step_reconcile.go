package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/step"
)

// stepReconcile runs the controller of package notices on our informers. It prints the controller's
// log, without the time.
func stepReconcile(ctx context.Context, env *step.Env) error {
	defer removeFinalizers(env)
	ctx = klog.NewContext(ctx, logger(ctx, env.Out, "level"))
	return notices.Run(ctx, env.Config, env.Namespace, notices.Options{
		NewInformer: informer.Default.New, // or cache.NewSharedIndexInformerWithOptions
	})
}

// removeFinalizers removes the finalizers of all notices. If you end a step early, notices are
// left, and no controller runs that would remove their finalizers. Then the step's namespace could
// not be removed.
func removeFinalizers(env *step.Env) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return // the step has made no notices, because it has had the same error
	}
	left := client.Resource(notices.Resource).Namespace(env.Namespace)
	list, err := left.List(ctx, metav1.ListOptions{})
	if err != nil {
		return // the type is not defined, or the server does not answer: kubectl reports it
	}
	for _, notice := range list.Items {
		_, _ = left.Patch(ctx, notice.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
			metav1.PatchOptions{}) // an error is fine: the notice may be gone by now
	}
}
