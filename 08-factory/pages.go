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
		"/":                           web.List(s.pods, "label"),
		"/:resource":                  web.List(s.resource, "label"),
		"/:resource/:namespace/:name": web.JSON(s.object),
		"/healthz":                    web.JSON(s.live),
		"/readyz":                     web.JSON(s.ready),
	}
}

// pods is the page that the old tutorials have.
func (s *site) pods(c *gin.Context) (iter.Seq[any], error) { return s.list(c, "pods") }

// resource answers with the objects of a resource.
func (s *site) resource(c *gin.Context) (iter.Seq[any], error) { return s.list(c, c.Param("resource")) }

// list returns the objects of a resource. The parameter label is a label selector.
func (s *site) list(c *gin.Context, resource string) (iter.Seq[any], error) {
	selector, err := labels.Parse(c.Query("label"))
	if err != nil {
		return nil, web.Errorf(http.StatusBadRequest, "the label selector %q: %v", c.Query("label"), err)
	}
	store, err := s.store(c, resource)
	if err != nil {
		return nil, err
	}
	return selected(store, selector), nil
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
func (s *site) object(c *gin.Context) (any, error) {
	store, err := s.store(c, c.Param("resource"))
	if err != nil {
		return nil, err
	}
	key := c.Param("namespace") + "/" + c.Param("name")
	obj, exists, _ := store.GetByKey(strings.TrimPrefix(key, "-/")) // the error is always nil
	if !exists {
		return nil, web.Errorf(http.StatusNotFound, "there is no %q in %s", key, c.Param("resource"))
	}
	return obj, nil
}

// store returns the store of a resource, if the site serves the resource and the store has synced.
func (s *site) store(c *gin.Context, resource string) (cache.Store, error) {
	informer, ok := s.informers[resource]
	switch {
	case !ok && resource == "secrets":
		return nil, web.Errorf(http.StatusForbidden,
			"secrets are not shown, and not even cached: start with -secrets if you want that")
	case !ok:
		return nil, web.Errorf(http.StatusNotFound, "there is no resource %q here (known: %q)", resource, s.names)
	case !informer.HasSynced():
		return nil, notYet(c, resource)
	}
	return informer.GetStore(), nil
}

// live answers that the server runs.
func (s *site) live(*gin.Context) (any, error) { return gin.H{"live": true}, nil }

// ready answers whether all stores have synced.
func (s *site) ready(c *gin.Context) (any, error) {
	waiting := slices.DeleteFunc(slices.Clone(s.names), func(name string) bool { return s.informers[name].HasSynced() })
	if len(waiting) > 0 {
		return nil, notYet(c, waiting...)
	}
	return gin.H{"ready": true}, nil
}

// notYet returns the error that stores have not synced, and tells the client to try again.
func notYet(c *gin.Context, waiting ...string) error {
	c.Header("Retry-After", "1")
	return web.Errorf(http.StatusServiceUnavailable, "waiting for the first list of %s: try again",
		strings.Join(waiting, ", "))
}
