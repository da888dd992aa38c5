// The pages that the step dynamic serves.

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/08-factory/factory"
)

const (
	maxBody     = 1 << 20 // bytes of an object; the API server's own limit is about 3 MB
	syncTimeout = 10 * time.Second
)

// resources serves the objects of one namespace, of any resource. With the first request for a
// resource, the factory makes an informer of it.
type resources struct {
	ctx       context.Context // the informers run until it ends
	client    dynamic.Interface
	factory   *factory.Factory
	mapper    meta.RESTMapper
	namespace string
}

// resource finds the resource with a name such as "configmaps", "deployments.apps" or
// "deployments.v1.apps".
func (r *resources) resource(name string) (schema.GroupVersionResource, error) {
	full, short := schema.ParseResourceArg(name)
	if full == nil {
		full = &schema.GroupVersionResource{Group: short.Group, Resource: short.Resource}
	}
	kind, err := r.mapper.KindFor(*full) // for an unknown name, the mapper asks the API server again
	if meta.IsNoMatchError(err) {
		return *full, apierrors.NewNotFound(schema.GroupResource{Resource: "resources"}, name)
	}
	if err != nil {
		return *full, err
	}
	mapping, err := r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	switch {
	case err != nil:
		return *full, err
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		return *full, apierrors.NewBadRequest(name + " belong to no namespace, and only one namespace is served")
	case mapping.Resource == corev1.SchemeGroupVersion.WithResource("secrets"):
		return *full, apierrors.NewForbidden(mapping.Resource.GroupResource(), "", errors.New("not cached here"))
	}
	return mapping.Resource, nil
}

// lister returns the lister of the resource that the request names. It waits until the cache has
// synced.
func (r *resources) lister(c *gin.Context) (cache.GenericNamespaceLister, error) {
	resource, err := r.resource(c.Param("resource"))
	if err != nil {
		return nil, err
	}
	generic, err := r.factory.ForResource(resource)
	if err != nil {
		return nil, err
	}
	r.factory.Start(r.ctx)
	ctx, cancel := context.WithTimeout(c.Request.Context(), syncTimeout)
	defer cancel()
	if !cache.WaitFor(ctx, "", generic.Informer().HasSyncedChecker()) {
		return nil, apierrors.NewServiceUnavailable("waiting for the first list of " + resource.Resource)
	}
	return generic.Lister().ByNamespace(r.namespace), nil
}

func (r *resources) list(c *gin.Context) {
	query, ok := web.Query(c, "label")
	if !ok {
		return
	}
	selector, err := labels.Parse(query["label"])
	if err != nil {
		web.Fail(c, http.StatusBadRequest, "the label selector %q: %v", query["label"], err)
		return
	}
	lister, err := r.lister(c)
	if err != nil {
		fail(c, err)
		return
	}
	objs, err := lister.List(selector)
	if err != nil {
		fail(c, err)
		return
	}
	slices.SortFunc(objs, func(a, b runtime.Object) int {
		return strings.Compare(a.(metav1.Object).GetName(), b.(metav1.Object).GetName())
	})
	c.JSON(http.StatusOK, append([]runtime.Object{}, objs...)) // an empty list is [], and not null
}

func (r *resources) get(c *gin.Context) {
	lister, err := r.lister(c)
	if err != nil {
		fail(c, err)
		return
	}
	obj, err := lister.Get(c.Param("name"))
	answer(c, http.StatusOK, obj, err)
}

func (r *resources) create(c *gin.Context) {
	r.write(c, func(objects dynamic.ResourceInterface, sent *unstructured.Unstructured) {
		obj, err := objects.Create(c.Request.Context(), sent, metav1.CreateOptions{})
		answer(c, http.StatusCreated, obj, err)
	})
}

func (r *resources) update(c *gin.Context) {
	r.write(c, func(objects dynamic.ResourceInterface, sent *unstructured.Unstructured) {
		if sent.GetName() != c.Param("name") {
			web.Fail(c, http.StatusBadRequest, "the object is called %q, and the path says %q", sent.GetName(),
				c.Param("name"))
			return
		}
		obj, err := objects.Update(c.Request.Context(), sent, metav1.UpdateOptions{})
		answer(c, http.StatusOK, obj, err)
	})
}

// write reads the object of a request, and calls a function with it.
func (r *resources) write(c *gin.Context, send func(dynamic.ResourceInterface, *unstructured.Unstructured)) {
	resource, err := r.resource(c.Param("resource"))
	if err != nil {
		fail(c, err)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err != nil {
		web.Fail(c, http.StatusRequestEntityTooLarge, "reading the object: %v", err)
		return
	}
	sent := &unstructured.Unstructured{}
	if err := sent.UnmarshalJSON(body); err != nil {
		web.Fail(c, http.StatusBadRequest, "this is no object as JSON: %v", err)
		return
	}
	if namespace := sent.GetNamespace(); namespace != "" && namespace != r.namespace {
		web.Fail(c, http.StatusForbidden, "the object is in namespace %q, and only %q is served", namespace,
			r.namespace)
		return
	}
	send(r.client.Resource(resource).Namespace(r.namespace), sent)
}

func (r *resources) delete(c *gin.Context) {
	resource, err := r.resource(c.Param("resource"))
	if err != nil {
		fail(c, err)
		return
	}
	err = r.client.Resource(resource).Namespace(r.namespace).Delete(c.Request.Context(), c.Param("name"),
		metav1.DeleteOptions{})
	answer(c, http.StatusOK, gin.H{"deleted": c.Param("name")}, err)
}

// answer answers with an object, or with an error if there is one.
func answer(c *gin.Context, status int, obj any, err error) {
	if err != nil {
		fail(c, err)
		return
	}
	c.JSON(status, obj)
}

// fail answers with an error, and the status that the API server has for it.
func fail(c *gin.Context, err error) {
	status := http.StatusBadGateway // the API server has not answered, or not with a status
	var apiStatus apierrors.APIStatus
	if errors.As(err, &apiStatus) {
		status = int(apiStatus.Status().Code)
	}
	web.Fail(c, status, "%v", err)
}
