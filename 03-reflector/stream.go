package main

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
)

// stream starts a reflector twice: once as it is, once over a ListWatch that
// says it cannot stream. The requests differ, the result does not. (It also
// shows that the destination need not be a queue: here it is a plain store.)
func stream(ctx context.Context, s *kube.Session) error {
	for _, name := range []string{"one", "two"} {
		if _, err := s.CreateConfigMap(ctx, name); err != nil {
			return err
		}
	}
	for _, streaming := range []bool{true, false} {
		var asked requests.Counter
		counted, err := s.With(asked.Count)
		if err != nil {
			return err
		}
		var lw cache.ListerWatcher = counted.OwnConfigMaps()
		if !streaming {
			lw = cannotStream{counted.OwnConfigMaps()}
		}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		stop := flow.Start(ctx, cache.NewReflector(lw, &corev1.ConfigMap{}, store, 0))
		err = flow.Until(ctx, "the list", func() bool { return len(store.ListKeys()) == 2 && asked.Watching() })
		stop()
		counted.Cluster.Close()
		if err != nil {
			return err
		}
		s.Printf("streaming: %t, requests: %s, objects: %s\n", streaming, &asked, names(store))
	}
	return nil
}

// cannotStream is a ListWatch that has nothing but LIST and WATCH to offer.
type cannotStream struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is how a reflector asks.
func (cannotStream) IsWatchListSemanticsUnSupported() bool { return true }

// names returns the names of a store's objects, sorted: a store has no order.
func names(store cache.Store) []string {
	var names []string
	for _, obj := range store.List() {
		names = append(names, obj.(*corev1.ConfigMap).Name)
	}
	slices.Sort(names)
	return names
}
