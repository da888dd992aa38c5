// Package parttwo has the parts of Part II of the book: no queue, a store with snapshots, and a
// journal.
package parttwo

import (
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/journal"
	"example.com/informer/07-shared-informer/store"
)

// Parts are all parts of Part II.
//
// The goroutine of the reflector changes the store, and appends the change to the journal. It does
// not wait for a handler, and no reader of the store holds it up. A handler that is far behind gets
// the latest state of each object, and not each change: this is the one exception to the contract of
// cache.SharedIndexInformer.
var Parts = informer.Parts{Queue: NoQueue, Store: Store, Fanout: Journal}

// Store makes a store whose readers take snapshots.
func Store(options cache.SharedIndexInformerOptions) informer.Store {
	return store.New(store.Options{
		Indexers:        options.Indexers,
		Identifier:      options.Identifier,
		MetricsProvider: options.InformerMetricsProvider,
	})
}

// Journal makes a journal, which has one list of notifications, and a cursor for each handler.
func Journal() processor.Fanout { return journal.New() }
