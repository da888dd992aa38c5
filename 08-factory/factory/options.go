package factory

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
)

// Options of a Factory.
type Options struct {
	// Namespace to list and watch. Default: all.
	Namespace string

	// DefaultResync is the resync period: how often handlers get an update for every object in the
	// cache. Default: never.
	DefaultResync time.Duration

	// CustomResync has resync periods of single types. For these types it takes precedence over
	// DefaultResync.
	CustomResync map[schema.GroupVersionResource]time.Duration

	// TweakListOptions, if set, changes the options of every LIST and WATCH, for example to select
	// by label.
	TweakListOptions func(*metav1.ListOptions)

	// Transform, if set, is called with each object before the object is stored. The cache holds
	// the result.
	Transform cache.TransformFunc

	// Kinds sets Kind and APIVersion of each object. client-go leaves them empty.
	Kinds bool

	// Dynamic lists and watches the types that client-go has no Go type for. These are custom
	// resources, including those for which the program has registered a Go type in scheme.Scheme.
	// Default: the factory refuses such types.
	Dynamic dynamic.Interface

	// Parts are the parts of the informers. Default: those of informer.New.
	Parts informer.Parts

	// InformerName, if set, is the name under which the stores of the informers publish metrics.
	// The store of parttwo.Parts does, an indexer does not. Shutdown releases the name.
	InformerName *cache.InformerName
}

func (o *Options) resync(resource schema.GroupVersionResource) time.Duration {
	if period, ok := o.CustomResync[resource]; ok {
		return period
	}
	return o.DefaultResync
}
