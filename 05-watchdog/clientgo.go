package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/05-watchdog/calls"
)

// clientgo lets client-go's informers watch what a WatchDog watches, each with
// the same handler, and compares what the handlers were told.
func clientgo(ctx context.Context, s *kube.Session) (err error) {
	var ours kube.Transcript
	_, stop, err := watch(ctx, s, calls.Print(ours.Printf, calls.Data))
	if err != nil {
		return err
	}
	defer stop()
	theirs := informers(s)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for i := range theirs {
		running.Go(func() { theirs[i].controller.RunWithContext(ctx) })
		if !cache.WaitFor(ctx, "", theirs[i].controller.HasSyncedChecker()) {
			return ctx.Err()
		}
	}

	for i, do := range []func() error{
		func() error { return s.CreateConfigMapWith(ctx, "one", "sky", "blue") },
		func() error { return s.CreateConfigMapWith(ctx, "two", "sky", "blue") },
		func() error { return s.PatchConfigMap(ctx, "one", "sky", "grey") },
		func() error { return s.DeleteConfigMap(ctx, "one") },
	} {
		if err := do(); err != nil {
			return err
		}
		// Our queue keeps no order between objects: let one thing happen at a time.
		if err := flow.Until(ctx, "all have told of it", func() bool {
			return lines(&ours) > i &&
				!slices.ContainsFunc(theirs, func(in *informer) bool { return lines(&in.told) <= i })
		}); err != nil {
			return err
		}
	}
	s.Printf("WatchDog :\n%s", ours.Text())
	for _, in := range theirs {
		s.Printf("%s : the same calls in the same order: %t\n", in.name, in.told.Text() == ours.Text())
	}
	return showIndexes(s, theirs)
}

func lines(t *kube.Transcript) int { return strings.Count(t.Text(), "\n") }

// An informer of client-go is a store and a controller that fills it.
type informer struct {
	name       string
	store      cache.Store
	controller cache.Controller
	told       kube.Transcript
}

// informers makes one informer with each constructor of client-go's.
func informers(s *kube.Session) []*informer {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	options := func(in *informer, indexers cache.Indexers) cache.InformerOptions {
		return cache.InformerOptions{
			ListerWatcher: s.OwnConfigMaps(),
			ObjectType:    &corev1.ConfigMap{},
			Handler:       calls.Print(in.told.Printf, calls.Data),
			Indexers:      indexers,
		}
	}
	plain, indexed := &informer{name: "NewInformerWithOptions"}, &informer{name: "NewInformerWithOptions, Indexers set"}
	plain.store, plain.controller = cache.NewInformerWithOptions(options(plain, nil))
	indexed.store, indexed.controller = cache.NewInformerWithOptions(options(indexed, indexers))

	oldPlain, oldIndexed := &informer{name: "NewInformer"}, &informer{name: "NewIndexerInformer"}
	//lint:ignore SA1019 the step shows what it was
	oldPlain.store, oldPlain.controller = cache.NewInformer(
		s.OwnConfigMaps(), &corev1.ConfigMap{}, 0, calls.Print(oldPlain.told.Printf, calls.Data))
	//lint:ignore SA1019 the step shows what it was
	oldIndexed.store, oldIndexed.controller = cache.NewIndexerInformer(
		s.OwnConfigMaps(), &corev1.ConfigMap{}, 0, calls.Print(oldIndexed.told.Printf, calls.Data), indexers)
	return []*informer{plain, indexed, oldPlain, oldIndexed}
}

// showIndexes asks each store for an index. All are the same type inside, and
// take the question; only two were given an answer.
func showIndexes(s *kube.Session, all []*informer) error {
	for _, in := range all {
		indexer, ok := in.store.(cache.Indexer)
		if !ok {
			return fmt.Errorf("the store of %s is a %T, no cache.Indexer", in.name, in.store)
		}
		if objs, err := indexer.ByIndex(cache.NamespaceIndex, s.Namespace); err != nil {
			s.Printf("%s : by namespace: %v\n", in.name, err)
		} else {
			s.Printf("%s : by namespace: %d\n", in.name, len(objs))
		}
	}
	return nil
}
