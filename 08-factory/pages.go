// What is served: the factory's stores. No page sends a request to the API
// server, and no page makes the factory send one.

package main

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/08-factory/factory"
)

// A site serves some resources, by their names.
type site struct {
	names     []string // in order
	informers map[string]cache.SharedIndexInformer
}

// newSite asks the factory for all resources that will be served. Secrets are
// among them only if they are wanted: what is not cached cannot leak.
func newSite(f *factory.Factory, withSecrets bool) (*site, error) {
	resources := []schema.GroupVersionResource{
		factory.Pods, factory.ConfigMaps, factory.Services, factory.Nodes, factory.Deployments, factory.ReplicaSets,
	}
	if withSecrets {
		resources = append(resources, corev1.SchemeGroupVersion.WithResource("secrets"))
	}
	s := &site{informers: map[string]cache.SharedIndexInformer{}}
	for _, resource := range resources {
		asked, err := f.ForResource(resource)
		if err != nil {
			return nil, err
		}
		s.names = append(s.names, resource.Resource)
		s.informers[resource.Resource] = asked.Informer()
	}
	slices.Sort(s.names)
	return s, nil
}

func (s *site) pages() web.Pages {
	return web.Pages{
		"/":                           func(c *gin.Context) { s.list(c, "pods") }, // as the old tutorials have it
		"/:resource":                  func(c *gin.Context) { s.list(c, c.Param("resource")) },
		"/:resource/:namespace/:name": s.object,
		"/healthz":                    s.live,
		"/readyz":                     s.ready,
	}
}

// list gives the objects of a resource, or those that a label selector takes.
func (s *site) list(c *gin.Context, resource string) {
	query, ok := web.Query(c, "label")
	if !ok {
		return
	}
	selector, err := labels.Parse(query["label"])
	if err != nil {
		web.Fail(c, http.StatusBadRequest, "the label selector %q: %v", query["label"], err)
		return
	}
	if store, ok := s.store(c, resource); ok {
		web.Stream(c, selected(store, selector))
	}
}

// selected gives objects in the order of their keys. It looks each object up
// when its turn comes, and leaves out those that are gone by then.
func selected(store cache.Store, selector labels.Selector) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, key := range slices.Sorted(slices.Values(store.ListKeys())) {
			obj, exists, _ := store.GetByKey(key) // it never fails
			if exists && selector.Matches(labels.Set(obj.(metav1.Object).GetLabels())) && !yield(obj) {
				return
			}
		}
	}
}

// object gives one object. For a resource without namespaces, the path has "-" in
// the place of the namespace.
func (s *site) object(c *gin.Context) {
	if _, ok := web.Query(c); !ok {
		return
	}
	store, ok := s.store(c, c.Param("resource"))
	if !ok {
		return
	}
	key := c.Param("namespace") + "/" + c.Param("name")
	obj, exists, _ := store.GetByKey(strings.TrimPrefix(key, "-/")) // it never fails
	if !exists {
		web.Fail(c, http.StatusNotFound, "there is no %q in %s", key, c.Param("resource"))
		return
	}
	c.JSON(http.StatusOK, obj)
}

// store returns the store of a resource that has synced. For any other resource
// it answers the request, and returns false.
func (s *site) store(c *gin.Context, resource string) (cache.Store, bool) {
	informer, ok := s.informers[resource]
	switch {
	case !ok && resource == "secrets":
		web.Fail(c, http.StatusForbidden,
			"secrets are not shown, and not even cached: start with -secrets if you want that")
	case !ok:
		web.Fail(c, http.StatusNotFound, "there is no resource %q here (known: %q)", resource, s.names)
	case !informer.HasSynced():
		s.notYet(c, resource)
	default:
		return informer.GetStore(), true
	}
	return nil, false
}

// live says that the server answers.
func (s *site) live(c *gin.Context) {
	if _, ok := web.Query(c); ok {
		c.JSON(http.StatusOK, gin.H{"live": true})
	}
}

// ready says whether all stores have their first lists.
func (s *site) ready(c *gin.Context) {
	if _, ok := web.Query(c); !ok {
		return
	}
	waiting := slices.DeleteFunc(slices.Clone(s.names), func(name string) bool { return s.informers[name].HasSynced() })
	if len(waiting) > 0 {
		s.notYet(c, waiting...)
		return
	}
	c.JSON(http.StatusOK, gin.H{"ready": true})
}

func (s *site) notYet(c *gin.Context, waiting ...string) {
	c.Header("Retry-After", "1")
	web.Fail(c, http.StatusServiceUnavailable, "waiting for the first list of %s: try again",
		strings.Join(waiting, ", "))
}
