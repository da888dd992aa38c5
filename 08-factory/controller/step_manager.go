package main

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/step"
)

// stepManager runs the Reconciler of package notices in a manager of controller-runtime. The
// manager's cache uses our informers.
func stepManager(ctx context.Context, env *step.Env) error {
	defer removeFinalizers(env)
	dynamicClient, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	resource := dynamicClient.Resource(notices.Resource).Namespace(env.Namespace)
	reconciler := notices.Reconciler{Client: env.Client, Resource: resource}

	newInformer := func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers,
	) cache.SharedIndexInformer {
		i := informer.New(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
		if _, ok := example.(*corev1.ConfigMap); ok {
			reconciler.Copies = i.GetIndexer()
		} else {
			reconciler.Notices = i.GetStore()
		}
		return i
	}
	m, err := manager.New(env.Config, manager.Options{
		Cache: ctrlcache.Options{
			DefaultNamespaces: map[string]ctrlcache.Config{env.Namespace: {}},
			NewInformer:       newInformer,
		},
		Logger:     logr.Discard(),                                      // the reconciler has a logger of its own
		Metrics:    server.Options{BindAddress: "0"},                    // the step serves no metrics
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}, // this step may run twice in a process
	})
	if err != nil {
		return err
	}
	reconciler.Recorder = m.GetEventRecorder("notices")
	notice := &unstructured.Unstructured{}
	notice.SetGroupVersionKind(notices.Resource.GroupVersion().WithKind(notices.Kind))
	copies, err := m.GetCache().GetInformer(ctx, &corev1.ConfigMap{}, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	if err := copies.AddIndexers(notices.Indexers); err != nil {
		return err
	}
	// Any ConfigMap may have taken the name of a copy, whoever owns it, and its delete makes the name free.
	namesakes := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName(notices.Namesake(obj))}}
	})
	err = builder.ControllerManagedBy(m).Named("notices").
		For(notice).
		Owns(&corev1.ConfigMap{}).
		Watches(&corev1.ConfigMap{}, namesakes).
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			ctx = klog.NewContext(ctx, logger(ctx, env.Out, "level").WithValues("notice", request))
			return reconcile.Result{}, reconciler.Reconcile(ctx, request.String())
		}))
	if err != nil {
		return err
	}
	return m.Start(ctx)
}
