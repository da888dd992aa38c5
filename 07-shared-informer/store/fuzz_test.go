package store_test

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/07-shared-informer/store"
)

// newStore is an indexertest.New.
func newStore(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
	return store.New(store.Options{KeyFunction: keyFunc, Indexers: indexers})
}

// FuzzStore does the same to our store and to client-go's, asks both the same questions, and looks
// once more at all snapshots at the end.
func FuzzStore(f *testing.F) {
	indexertest.Fuzz(f, newStore, func(s cache.Indexer) (list func() []any) { return s.(*store.Store).Snapshot().List })
}
