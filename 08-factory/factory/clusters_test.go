// Two clusters in one program.

package factory

import (
	"context"
	"iter"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// Each cluster has its own client, factory and context. Keys are the same in
// both, so the handler has to know which cluster it is for.
func TestAFactoryForEachCluster(t *testing.T) {
	for name, newFactory := range map[string]func(kubernetes.Interface) informers.SharedInformerFactory{
		"client-go's": func(client kubernetes.Interface) informers.SharedInformerFactory {
			return informers.NewSharedInformerFactory(client, 0)
		},
		"ours": func(client kubernetes.Interface) informers.SharedInformerFactory {
			return New(client, Options{}).ClientGo()
		},
	} {
		t.Run(name, func(t *testing.T) {
			added := make(chan string, 10)
			servers := map[string]*server{}
			cancels := map[string]func(){}
			for cluster, has := range map[string]iter.Seq[any]{"east": these("a", "b"), "west": these("a")} {
				server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: has})
				servers[cluster] = server
				f := newFactory(client)
				objects := f.Core().V1().ConfigMaps()
				_, err := objects.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
					key, _ := cache.MetaNamespaceKeyFunc(obj)
					added <- cluster + " " + key
				}})
				must.Do(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				cancels[cluster] = func() { cancel(); f.Shutdown() }
				defer cancels[cluster]()
				f.StartWithContext(ctx)
				must.Do(t, f.WaitForCacheSyncWithContext(ctx).AsError())
				listed, err := objects.Lister().List(labels.Everything())
				must.Do(t, err)
				if want := len(slices.Collect(has)); len(listed) != want || server.Lists() != 1 {
					t.Errorf("%s: %d objects in %d lists, want %d in 1", cluster, len(listed), server.Lists(), want)
				}
			}
			got := []string{<-added, <-added, <-added}
			slices.Sort(got)
			want := []string{"east ns/a", "east ns/b", "west ns/a"}
			expect.That(t, slices.Equal(got, want), "handlers got %q, want %q", got, want)

			cancels["east"]() // the other cluster does not notice
			servers["west"].events <- event{"ADDED", configMap("c")}
			next := <-added
			expect.That(t, next == "west ns/c", "a handler got %q, want that of west", next)
		})
	}
}
