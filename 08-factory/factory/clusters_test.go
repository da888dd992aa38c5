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

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// Each cluster has its own client, factory and context. An object of one cluster can have the same
// key as an object of the other cluster. Therefore each handler knows its cluster.
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
			stops := map[string]func(){}
			for cluster, objs := range map[string]iter.Seq[any]{
				"east": configMapsNamed("a", "b"),
				"west": configMapsNamed("a"),
			} {
				server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: objs})
				servers[cluster] = server
				f := newFactory(client)
				objects := f.Core().V1().ConfigMaps()
				_, err := objects.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
					key, _ := cache.MetaNamespaceKeyFunc(obj)
					added <- cluster + " " + key
				}})
				must.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				stops[cluster] = func() {
					cancel()
					f.Shutdown()
				}
				defer stops[cluster]()
				f.StartWithContext(ctx)
				must.NoError(t, f.WaitForCacheSyncWithContext(ctx).AsError())
				listed, err := objects.Lister().List(labels.Everything())
				must.NoError(t, err)
				if want := len(slices.Collect(objs)); len(listed) != want {
					t.Errorf("%s: the lister has %d objects, want %d", cluster, len(listed), want)
				}
				if server.Lists() != 1 {
					t.Errorf("%s: %d lists, want 1", cluster, server.Lists())
				}
			}
			got := []string{<-added, <-added, <-added}
			slices.Sort(got)
			want := []string{"east ns/a", "east ns/b", "west ns/a"}
			if !slices.Equal(got, want) {
				t.Errorf("the handlers got %q, want %q", got, want)
			}

			stops["east"]() // the informer of the other cluster goes on
			servers["west"].Events <- fakeapi.Event{Type: "ADDED", Object: configMap("c")}
			if next := <-added; next != "west ns/c" {
				t.Errorf("after the end of east, a handler got %q, want %q", next, "west ns/c")
			}
		})
	}
}
