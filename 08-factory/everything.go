package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/08-factory/factory"
)

// everything asks the server what it has, and caches all of that.
func everything(ctx context.Context, s *kube.Session) error {
	var asked requests.Counter
	counted, err := s.With(func(config *rest.Config) {
		asked.Count(config)
		config.WarningHandler = rest.NoWarnings{} // some of what there is should not be used any more
	})
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	wanted, leftOut, err := discover(ctx, counted.Discovery)
	if err != nil {
		return err
	}
	f := factory.New(counted.Clientset, factory.Options{Dynamic: counted.Dynamic, Transform: withoutManagedFields})
	defer f.Shutdown()
	informers, untyped, err := askFor(f, wanted)
	if err != nil {
		return err
	}
	asked.Reset()
	before := heap()
	marked(ctx, s.Namespace, f.Start)
	patience, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := f.WaitForCacheSync(patience); err != nil {
		return err
	}
	n, running, bytes := len(informers), goroutines(s.Namespace), heap()-before
	s.Printf("informers : more than 40: %t, and all have synced\n", n > 40)
	s.Printf("of objects without a Go type : %s\n", sorted(untyped))
	s.Printf("lists : one for each: %t\n", asked.Lists() == n)
	s.Printf("goroutines : fewer than ten for each: %t\n", running < 10*n)
	s.Printf("memory : less than a megabyte for each: %t\n", bytes < n<<20)
	report(informers, running, bytes)
	for _, reason := range []string{notWatchable, olderVersion, anotherName, notAskedFor} {
		s.Printf("left out, %s : %s\n", reason, sorted(leftOut[reason]))
	}
	s.Printf("left out, %s : pods/log: %t, and more\n",
		partOfOthers, slices.Contains(leftOut[partOfOthers], "pods/log"))
	s.Printf("left out, %s : custom resources\n", byOthers)
	return nil
}

// askFor asks the factory for informers, and says which are of maps.
func askFor(f *factory.Factory,
	wanted map[schema.GroupVersionResource]schema.GroupVersionKind) (informers []cache.SharedIndexInformer,
	untyped []string, err error) {
	for resource, kind := range wanted {
		found, err := f.ForResource(resource)
		if err != nil {
			return nil, nil, err
		}
		informers = append(informers, found.Informer())
		if !scheme.Scheme.Recognizes(kind) {
			untyped = append(untyped, resource.Resource)
		}
	}
	return informers, untyped, nil
}

func sorted(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), " ") }

// report writes the exact figures to where nobody compares them.
func report(informers []cache.SharedIndexInformer, goroutines, bytes int) {
	objects := 0
	for _, informer := range informers {
		objects += len(informer.GetStore().ListKeys())
	}
	slog.Info("everything", "informers", len(informers), "objects", objects, "goroutines", goroutines, "KiB", bytes>>10)
}
