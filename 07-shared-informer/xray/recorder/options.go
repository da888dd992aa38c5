package recorder

import "k8s.io/client-go/tools/cache"

// Options describe the informer. All but the Indexers are required.
type Options struct {
	Name, Kind string
	Namespace  string         // objects of other namespaces are not shown, and Secrets never are
	Indexers   cache.Indexers // default: none
	Status     func() Status
}
