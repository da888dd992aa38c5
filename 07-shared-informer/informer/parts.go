// The parts of an informer that can be replaced.

package informer

import (
	"iter"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/01-deltafifo/realfifo"
	"example.com/informer/04-indexer/indexer"
	"example.com/informer/06-processor/processor"
)

// Parts are functions that make the parts of one informer. A part that is nil is the one of Default.
type Parts struct {
	// Queue makes the queue between the reflector and the store. It gets the store, because a
	// DeltaFIFO has to know which objects are stored.
	Queue func(known cache.KeyListerGetter) Queue

	// Store makes the store, with the indexers and the metrics of the options.
	Store func(cache.SharedIndexInformerOptions) Store

	// Fanout makes what brings each notification to all handlers.
	Fanout func() processor.Fanout
}

// New makes an informer with these parts. It has the signature of client-go's
// NewSharedIndexInformerWithOptions, so that it can be passed on where a program asks for a constructor.
func (p Parts) New(lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions,
) cache.SharedIndexInformer {
	return NewWithParts(lw, exampleObject, options, p)
}

// Default are the parts of New: those of chapters 01, 04 and 06. A test may set others before it
// makes its first informer, to run a whole program with them.
var Default = Parts{Queue: RealFIFO, Store: Indexer, Fanout: processor.NewChannels}

// A Queue is between the reflector, which writes to it, and the loop, which pops. It is done when
// the first list is popped, and process has returned.
//
// A queue that keeps the order of all changes is a cache.ReflectorBookmarkStore, too: a bookmark
// says that everything up to its version has come before it.
type Queue interface {
	cache.ReflectorStore
	cache.DoneChecker
	Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error
	Close() // Pop returns cache.ErrFIFOClosed as soon as the queue is empty
}

// A Store is an indexer whose writes say what they change. Only the loop writes to it.
type Store interface {
	cache.Indexer

	// Put stores an object under its key, and returns the object that it replaces, or nil.
	Put(key string, obj any) (old any, err error)

	// Remove removes the object with this key, and returns it, or nil. The store takes the version
	// of last, the last state of the object.
	Remove(key string, last any) (old any)

	// ReplaceAll replaces all objects by those of a list. It returns the changes of the objects in
	// the list, in its order, and the changes of the objects that are gone.
	ReplaceAll(keys []string, objs []any, version string) (listed, gone []indexer.Change, err error)

	// All yields the keys and the objects that are stored at the moment of the call.
	All() iter.Seq2[string, any]
}

// DeltaFIFO is the queue that groups changes by object. See WaitForVersion for what it costs.
func DeltaFIFO(known cache.KeyListerGetter) Queue {
	return deltafifo.New(deltafifo.Options{KnownObjects: known, EmitDeltaTypeReplaced: true})
}

// RealFIFO is the queue that keeps the order of all changes.
func RealFIFO(cache.KeyListerGetter) Queue { return realfifo.New() }

// Indexer is the store with one lock. It publishes no metrics. An index function that fails makes
// RunWithContext panic.
func Indexer(options cache.SharedIndexInformerOptions) Store {
	return indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, options.Indexers)
}
