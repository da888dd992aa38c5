package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/04-indexer/indexer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/step"
)

// stepClassic is an informer with client-go's design, made from the parts of this book: a
// reflector, a queue, a loop that pops, a store with an index, and channels to each handler. The
// slow handler does not return from its first call before the transcript says that it goes on.
func stepClassic(ctx context.Context, l *step.Lesson) error {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	// The store of chapter 04, with an index: the ConfigMaps by their sky.
	cities := indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{"sky": bySky})

	// The queue of chapter 01. It compares each list with the objects in the store.
	queue := deltafifo.New(deltafifo.Options{KnownObjects: cities})
	context.AfterFunc(ctx, queue.Close)

	// The reflector of chapter 03. It writes to the queue.
	source := reflector.New(reflector.Options{
		ListerWatcher: cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")), // which every namespace has
		Store:             queue,
		ExpectedType:      &corev1.ConfigMap{},
		WatchErrorHandler: func(_ context.Context, err error) { fmt.Fprintln(l.Out, "reflector :", err) },
	})

	// The processor of chapter 06: for each handler two channels, and between them a ring buffer.
	handlers := processor.New(processor.NewChannels())
	stuck, release := context.WithCancel(ctx)
	defer release()
	for _, name := range []string{"fast", "slow"} {
		show := func(method string, obj any, was string) {
			if name == "slow" {
				<-stuck.Done()
			}
			if unseen, ok := obj.(cache.DeletedFinalStateUnknown); ok { // a tombstone: see chapter 05
				obj = unseen.Obj
			}
			if city, ok := obj.(*corev1.ConfigMap); ok {
				fmt.Fprintf(l.Out, "%s : %s : %s : %s%s\n", name, method, city.Name, city.Data["sky"], was)
			}
		}
		_, err := handlers.Add(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { show("OnAdd", obj, "") },
			UpdateFunc: func(oldObj, newObj any) {
				show("OnUpdate", newObj, fmt.Sprintf(" (was %s)", oldObj.(*corev1.ConfigMap).Data["sky"]))
			},
			DeleteFunc: func(obj any) { show("OnDelete", obj, "") },
		}, processor.Options{})
		if err != nil {
			return err
		}
	}
	l.On("the slow handler goes on", release)
	l.On("where is the sky grey?", func() {
		keys, _ := cities.IndexKeys("sky", "grey") // no error: the index exists
		fmt.Fprintln(l.Out, "index : grey :", slices.Sorted(slices.Values(keys)))
	})

	handlers.Start()
	running.Go(func() {
		source.Run(ctx) // until the context ends
		handlers.Stop()
	})

	// The loop takes all changes of one object out of the queue. It changes the store first, and
	// then notifies the handlers. The queue is locked meanwhile. Distribute does not wait for a
	// handler.
	for {
		err := queue.Pop(func(deltas cache.Deltas) error {
			for _, delta := range deltas {
				key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(delta.Object)
				if err != nil {
					return err
				}
				old, exists, err := cities.GetByKey(key)
				n := processor.Notification{Kind: processor.Updated, Key: key, Old: old, New: delta.Object}
				switch {
				case err != nil:
				case delta.Type == cache.Deleted:
					n.Kind, err = processor.Deleted, cities.Delete(delta.Object)
				case !exists: // the store decides, not the type of the delta
					n.Kind, err = processor.Added, cities.Add(delta.Object)
				default:
					err = cities.Update(delta.Object)
				}
				if err != nil {
					return err
				}
				handlers.Distribute(n)
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// bySky is the index function. A city without a sky is in the store, but not in the index.
func bySky(obj any) ([]string, error) {
	city, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return nil, fmt.Errorf("want a ConfigMap, got %T", obj)
	}
	if city.Data["sky"] == "" {
		return nil, nil
	}
	return []string{city.Data["sky"]}, nil
}
