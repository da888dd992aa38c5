package survival

import (
	"errors"
	"io/fs"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// An environment is what all scenarios share: the description of the controller, and its manifests.
type environment struct {
	Controller
	object, changed, second *family
	none                    *family                    // nil: there is no none.yaml
	kept                    *unstructured.Unstructured // a child of object that is different in changed
	dropped                 *unstructured.Unstructured // a child of object that changed does not want
	mapper                  meta.RESTMapper
}

func newEnvironment(t *testing.T, c Controller) *environment {
	t.Helper()
	e := &environment{Controller: c}
	for name, f := range map[string]**family{
		"object.yaml": &e.object, "changed.yaml": &e.changed, "second.yaml": &e.second, "none.yaml": &e.none} {
		var err error
		*f, err = readFamily(c.Manifests, name)
		if name != "none.yaml" || !errors.Is(err, fs.ErrNotExist) {
			must.NoError(t, err)
		}
	}
	var err error
	e.kept, e.dropped, err = findRoles(e.object, e.changed)
	must.NoError(t, err)
	e.define(t)
	return e
}

// define applies the definition of the objects' type, and waits until the API server serves it.
func (e *environment) define(t *testing.T) {
	t.Helper()
	config := sessiontest.Open(t).Config
	types, err := discovery.NewDiscoveryClientForConfig(config)
	must.NoError(t, err)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(types))
	e.mapper = mapper
	client, err := dynamic.NewForConfig(config)
	must.NoError(t, err)
	var documents []*unstructured.Unstructured
	if e.Definition != "" {
		documents, err = readYAML(e.Definition)
		must.NoError(t, err)
	}
	for _, document := range documents {
		resource, err := e.resourceOf(document)
		must.NoError(t, err)
		_, err = client.Resource(resource).Apply(t.Context(), document.GetName(), document,
			metav1.ApplyOptions{FieldManager: "survival", Force: true})
		must.NoError(t, err)
	}
	must.Until(t, "the API server serves the type of the objects", func() bool {
		mapper.Reset() // it has asked which types there are before the definition was applied
		resource, err := e.resourceOf(e.object.object)
		if err == nil {
			_, err = client.Resource(resource).List(t.Context(), metav1.ListOptions{})
		}
		return err == nil
	})
}

// resourceOf returns the resource of a manifest's type.
func (e *environment) resourceOf(manifest *unstructured.Unstructured) (schema.GroupVersionResource, error) {
	kind := manifest.GroupVersionKind()
	mapping, err := e.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	return mapping.Resource, nil
}
