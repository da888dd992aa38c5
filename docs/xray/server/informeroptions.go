package server

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/docs/xray/recorder"
)

// InformerOptions are an informer to show, and what the buttons of the page need. All fields but
// those with a default are required. They can be used once.
type InformerOptions struct {
	Name     string             // such as "configmaps"
	Kind     string             // such as "ConfigMap"
	Example  runtime.Object     // such as &corev1.ConfigMap{}
	Informer *informer.Informer // not started; the caller runs it
	Indexers cache.Indexers     // the indexers of the Informer; default: none

	Second *informer.Informer // to show beside it, which Start runs; default: client-go's, which Start makes

	// Parts are what the Informer and the Second are made of. Default: no queue, and a journal.
	Parts map[recorder.Implementation]recorder.Parts

	Source       *Source     // what the Informer lists and watches
	SecondSource *Source     // the same objects for client-go's informer, or for the Second
	Connection   *Connection // of both sources

	loop *pace // of the loops that pop; nil if no informer has a queue with a pace

	// Objects changes objects in the namespace of the page. It does not use the Connection, so that
	// it works while the connections are cut.
	Objects Objects
}
