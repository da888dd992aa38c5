package survival

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"example.com/informer/scripts/harness/must"
)

// resourceOf returns the resource of a manifest's type.
func (r *runner) resourceOf(manifest *unstructured.Unstructured) schema.GroupVersionResource {
	r.t.Helper()
	resource, err := r.environment.resourceOf(manifest)
	must.NoError(r.t, err)
	return resource
}

// client returns the client for the objects of a manifest's type.
func (r *runner) client(manifest *unstructured.Unstructured) dynamic.ResourceInterface {
	return r.dynamic.Resource(r.resourceOf(manifest)).Namespace(r.Namespace)
}

// create creates an object from a manifest, as a user would.
func (r *runner) create(manifest *unstructured.Unstructured) *unstructured.Unstructured {
	r.t.Helper()
	created, err := r.client(manifest).Create(r.ctx, manifest.DeepCopy(), metav1.CreateOptions{})
	must.NoError(r.t, err)
	return created
}

// get returns the object of a manifest as it is on the API server.
func (r *runner) get(manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return r.client(manifest).Get(r.ctx, manifest.GetName(), metav1.GetOptions{})
}

// mustGet is get for an object that has to be there.
func (r *runner) mustGet(manifest *unstructured.Unstructured) *unstructured.Unstructured {
	r.t.Helper()
	found, err := r.get(manifest)
	must.NoError(r.t, err)
	return found
}

// remove deletes an object, and does not wait until it is gone.
func (r *runner) remove(manifest *unstructured.Unstructured) {
	r.t.Helper()
	r.removeWith(manifest, metav1.DeletePropagationBackground)
}

func (r *runner) removeWith(manifest *unstructured.Unstructured, policy metav1.DeletionPropagation) {
	r.t.Helper()
	err := r.client(manifest).Delete(r.ctx, manifest.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy})
	must.NoError(r.t, err)
}

// gone returns an error if the object is still there.
func (r *runner) gone(manifest *unstructured.Unstructured) error {
	found, err := r.get(manifest)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	default:
		return fmt.Errorf("%s is still there (finalizers %q)", describe(manifest), found.GetFinalizers())
	}
}

func (r *runner) patch(manifest *unstructured.Unstructured, patch map[string]any) {
	r.t.Helper()
	text, err := json.Marshal(patch)
	must.NoError(r.t, err)
	_, err = r.client(manifest).Patch(r.ctx, manifest.GetName(), types.MergePatchType, text, metav1.PatchOptions{})
	must.NoError(r.t, err)
}

// patchMetadata sets one field of an object's metadata.
func (r *runner) patchMetadata(manifest *unstructured.Unstructured, field string, value any) {
	r.t.Helper()
	r.patch(manifest, map[string]any{"metadata": map[string]any{field: value}})
}

// annotate sets an annotation, which no controller has to care about.
func (r *runner) annotate(manifest *unstructured.Unstructured, value string) {
	r.t.Helper()
	r.patchMetadata(manifest, "annotations", map[string]any{annotation: value})
}

const (
	annotation      = "example.com/somebody"
	othersFinalizer = "example.com/somebody"
)

// apply gives the object the spec of this family.
func (r *runner) apply(f *family) {
	r.t.Helper()
	r.patch(f.object, content(f.object))
}

// corrupt changes the kept child, as somebody would who does not know its controller: to what another
// spec of the object would want.
func (r *runner) corrupt() {
	r.t.Helper()
	r.patch(r.kept, content(r.changed.child(r.kept.GetName())))
}

// addKey adds a key to a map of a child.
func (r *runner) addKey(child *unstructured.Unstructured, path string) {
	r.t.Helper()
	patch := map[string]any{}
	key := append(strings.Split(path, "."), "somebody")
	must.NoError(r.t, unstructured.SetNestedField(patch, "somebody", key...))
	r.patch(child, patch)
}

// lookalike returns a manifest for an object of the type of the kept child, with this name and with
// the content that corrupt gives to the child.
func (r *runner) lookalike(name string) *unstructured.Unstructured {
	manifest := r.changed.child(r.kept.GetName()).DeepCopy()
	manifest.SetName(name)
	return manifest
}

// withOthersFinalizer returns a copy of a manifest, with a finalizer of somebody else.
func (r *runner) withOthersFinalizer(manifest *unstructured.Unstructured) *unstructured.Unstructured {
	manifest = manifest.DeepCopy()
	manifest.SetFinalizers([]string{othersFinalizer})
	return manifest
}

// stranger creates an object of a type that the controller does not know, and returns it.
func (r *runner) stranger(name string) *unstructured.Unstructured {
	r.t.Helper()
	manifest := &unstructured.Unstructured{}
	manifest.SetAPIVersion("v1")
	manifest.SetKind("ServiceAccount")
	manifest.SetName(name)
	return r.create(manifest)
}

// controllerOf returns an owner reference to an object as the controller.
func controllerOf(owner *unstructured.Unstructured) metav1.OwnerReference {
	return *metav1.NewControllerRef(owner, owner.GroupVersionKind())
}

// giveTo makes another object the controller of a child.
func (r *runner) giveTo(child, owner *unstructured.Unstructured) {
	r.t.Helper()
	r.patchMetadata(child, "ownerReferences", []metav1.OwnerReference{controllerOf(owner)})
}

// removeFinalizers removes all finalizers that may be left, which would keep the namespace from being
// removed.
func (r *runner) removeFinalizers() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), time.Minute)
	defer cancel()
	for _, manifest := range []*unstructured.Unstructured{r.object.object, r.second.object, r.kept} {
		_, err := r.client(manifest).Patch(ctx, manifest.GetName(), types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if !apierrors.IsNotFound(err) {
			must.NoError(r.t, err)
		}
	}
}

// describe names an object, such as "ConfigMap picnic-0".
func describe(manifest *unstructured.Unstructured) string {
	return manifest.GetKind() + " " + manifest.GetName()
}
