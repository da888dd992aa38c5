package server

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
)

// InformerOptions are an informer to show, and what the buttons of the page need. All fields but
// the Indexers are required. They can be used once.
type InformerOptions struct {
	Name     string             // such as "configmaps"
	Kind     string             // such as "ConfigMap"
	Example  runtime.Object     // such as &corev1.ConfigMap{}
	Informer *informer.Informer // not started; the caller runs it
	Indexers cache.Indexers     // the indexers of the Informer; default: none

	Source         *Source     // what the Informer lists and watches
	ClientGoSource *Source     // the same objects for client-go's informer, which Start makes and runs
	Connection     *Connection // of both sources

	// Objects changes objects in the namespace of the page. It does not use the Connection, so that
	// it works while the connections are cut.
	Objects Objects
}
