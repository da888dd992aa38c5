// The pages that the step http serves. They show the factory's stores. No page sends a request to
// the API server, and no page makes the factory send one.

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

// A site serves the stores of some resources.
type site struct {
	names     []string                             // of the resources, sorted
	informers map[string]cache.SharedIndexInformer // by the name of the resource
}

// newSite asks the factory for the informers of all resources that the site serves. Secrets are
// among them only if the user wants it: a Secret that is not cached cannot leak.
func newSite(f *factory.Factory, withSecrets bool) (*site, error) {
	resources := []schema.GroupVersionResource{
		factory.Pods, factory.ConfigMaps, factory.Services, factory.Nodes, factory.Deployments, factory.ReplicaSets,
	}
	if withSecrets {
		resources = append(resources, corev1.SchemeGroupVersion.WithResource("secrets"))
	}
	s := &site{informers: map[string]cache.SharedIndexInformer{}}
	for _, resource := range resources {
		generic, err := f.ForResource(resource)
		if err != nil {
			return nil, err
		}
		s.names = append(s.names, resource.Resource)
		s.informers[resource.Resource] = generic.Informer()
	}
	slices.Sort(s.names)
	return s, nil
}

// pages returns the site's pages, by their paths.
func (s *site) pages() web.Pages {
	return web.Pages{
		"/":                           func(c *gin.Context) { s.list(c, "pods") }, // the page of the old tutorials
		"/:resource":                  func(c *gin.Context) { s.list(c, c.Param("resource")) },
		"/:resource/:namespace/:name": s.object,
		"/healthz":                    s.live,
		"/readyz":                     s.ready,
	}
}

// list answers with the objects of a resource. The parameter label is a label selector.
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

// selected yields the objects that match a selector, in the order of their keys. It gets each
// object from the store when it is due, and leaves out objects that were deleted meanwhile.
func selected(store cache.Store, selector labels.Selector) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, key := range slices.Sorted(slices.Values(store.ListKeys())) {
			obj, exists, _ := store.GetByKey(key) // the error is always nil
			if !exists || !selector.Matches(labels.Set(obj.(metav1.Object).GetLabels())) {
				continue
			}
			if !yield(obj) {
				return
			}
		}
	}
}

// object answers with one object. For a resource that belongs to no namespace, the path has "-" in
// place of the namespace.
func (s *site) object(c *gin.Context) {
	if _, ok := web.Query(c); !ok {
		return
	}
	store, ok := s.store(c, c.Param("resource"))
	if !ok {
		return
	}
	key := c.Param("namespace") + "/" + c.Param("name")
	obj, exists, _ := store.GetByKey(strings.TrimPrefix(key, "-/")) // the error is always nil
	if !exists {
		web.Fail(c, http.StatusNotFound, "there is no %q in %s", key, c.Param("resource"))
		return
	}
	c.JSON(http.StatusOK, obj)
}

// store returns the store of a resource. If the site does not serve the resource, or the store has
// not synced, it answers the request with an error, and returns false.
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

// live answers that the server runs.
func (s *site) live(c *gin.Context) {
	if _, ok := web.Query(c); ok {
		c.JSON(http.StatusOK, gin.H{"live": true})
	}
}

// ready answers whether all stores have synced.
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

// notYet answers that stores have not synced.
func (s *site) notYet(c *gin.Context, waiting ...string) {
	c.Header("Retry-After", "1")
	web.Fail(c, http.StatusServiceUnavailable, "waiting for the first list of %s: try again",
		strings.Join(waiting, ", "))
}
