// Package notices is a small, complete controller. You can start your own from a copy of this
// folder: it needs client-go and nothing else. A Notice has a text and a number of copies. Each
// copy is a ConfigMap.
//
// Read the files in this order: notices.go has what the controller needs to run, controller.go
// brings events to a queue of keys, reconcile.go turns a key into writes, recorder.go writes
// Events, lease.go lets one of several replicas work, and health.go answers a kubelet.
package notices

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Resource is the custom resource that the controller reconciles.
var Resource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "notices"}

// Kind is the kind of the objects of Resource.
const Kind = "Notice"

// NewInformer makes an informer. cache.NewSharedIndexInformerWithOptions is such a function.
type NewInformer = func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// Options change how the controller runs. The zero value is right for a single replica.
type Options struct {
	// NewInformer makes the two informers. Tests can run the controller on other informers with it.
	// Default: cache.NewSharedIndexInformerWithOptions.
	NewInformer NewInformer

	// Workers is how many notices are reconciled at the same time. Default: 2.
	Workers int

	// Lease is the name of a Lease in the namespace of the notices. Of all replicas with this Lease,
	// only the one that holds it writes. If somebody else edits or deletes the Lease, two of them may
	// write until the one that held it sees this, with its next renewal. Default: no Lease. Then there
	// must be one replica only.
	Lease string

	// Identity names this replica in the Lease. No two replicas may have the same identity. Default:
	// the name of the host, and a random part.
	Identity string

	// Health is where Run answers /healthz and /readyz. Run closes it, even if it returns an error.
	// Default: nil, Run does not answer.
	Health net.Listener
}

// withDefaults returns the options with the default of each field that is not set.
func (o Options) withDefaults() Options {
	if o.NewInformer == nil {
		o.NewInformer = cache.NewSharedIndexInformerWithOptions
	}
	o.Workers = cmp.Or(o.Workers, 2)
	if o.Identity == "" {
		host, _ := os.Hostname() // without a name, the random part is enough
		o.Identity = host + "_" + string(uuid.NewUUID())
	}
	return o
}

// Run runs the controller until ctx ends. It returns an error if the controller has lost its Lease:
// then the program has to end, because another replica works. Run returns when the workers have
// finished the keys that they have begun, and their Events are written, for which it waits at most 5
// seconds. Then it sends no request, and logs nothing. Only client-go may have goroutines left, for
// which nobody can wait: those of the queue and of the watches, which end, and of HTTP connections,
// which stay open for the next client.
func Run(ctx context.Context, config *rest.Config, namespace string, options Options) error {
	if options.Health != nil {
		defer options.Health.Close()
	}
	options = options.withDefaults()
	config = withLimits(config, options.Workers)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a dynamic client: %w", err)
	}
	resource := dynamicClient.Resource(Resource).Namespace(namespace)
	notices := options.NewInformer(listWatch(resource, dynamicClient), &unstructured.Unstructured{},
		cache.SharedIndexInformerOptions{ObjectDescription: Resource.String()})
	// All ConfigMaps of the namespace, and not those with a label: any of them can have the name of a
	// copy.
	copies := options.NewInformer(
		cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", namespace, fields.Everything()),
		&corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: Indexers})

	recorder := newRecorder(ctx, client)
	defer recorder.shutDown()
	c := &controller{
		Reconciler: Reconciler{
			Client:   client,
			Resource: resource,
			Notices:  notices.GetStore(),
			Copies:   copies.GetIndexer(),
			Recorder: recorder,
		},
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		workers: options.Workers,
	}
	if options.Lease != "" {
		if c.lease, err = newLease(config, namespace, options, recorder); err != nil {
			return err
		}
	}
	if options.Health != nil {
		defer c.serveHealth(ctx, options.Health)()
	}
	return c.run(ctx, notices, copies)
}

// withLimits returns config with limits for the rate of requests, unless it has some. client-go's
// default is 5 requests a second. Two workers that make 100 copies each would need 40 seconds, but a
// Reconcile has at most 30, or 10 with a Lease: see controller.writing. A request that would have to
// wait until after this deadline is not sent, and its error says "would exceed context deadline". The
// API server has limits of its own, priority and fairness.
func withLimits(config *rest.Config, workers int) *rest.Config {
	config = rest.CopyConfig(config)
	if config.QPS == 0 && config.RateLimiter == nil {
		config.QPS = float32(50 * workers) // 100 copies and 100 Events in at most 4 seconds
		config.Burst = 100 * workers
	}
	return config
}

// listWatch lists and watches notices. For a type of Kubernetes there is
// cache.NewListWatchFromClient; the dynamic client has no such function.
//
// ToListWatcherWithWatchListSemantics asks the client whether it can stream a list over a watch. A
// fake client cannot, and an informer that does not know this never syncs. NewListWatchFromClient
// does not need it: a fake client has no REST client.
func listWatch(notices dynamic.ResourceInterface, client dynamic.Interface) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return notices.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return notices.Watch(ctx, options)
		},
	}, client)
}
