package factory

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/informer/02-listwatch/kubetest"
)

// A custom resource beside a built-in one: no Go type, the same factory.
func TestACustomResource(t *testing.T) {
	s := kubetest.Open(t)
	custom, err := s.DefineWidgets(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, custom.Remove(context.WithoutCancel(t.Context()))) })
	must(t, custom.Create(t.Context(), "cog", 1))

	f := New(s.Clientset, Options{Namespace: s.Namespace, Kinds: true, Dynamic: s.Dynamic})
	f.ConfigMaps()
	asked, err := f.ForResource(custom.Resource)
	must(t, err)
	again, err := f.ForResource(custom.Resource)
	must(t, err)
	if again.Informer() != asked.Informer() {
		t.Error("there is more than one informer of widgets")
	}
	start(t, f)
	get := func() (kind string, size int64) {
		obj, err := asked.Lister().ByNamespace(s.Namespace).Get("cog")
		must(t, err)
		widget := obj.(*unstructured.Unstructured)
		size, _, err = unstructured.NestedInt64(widget.Object, "spec", "size")
		must(t, err)
		return widget.GetKind(), size
	}
	if kind, size := get(); kind != "Widget" || size != 1 {
		t.Errorf("got a %s of size %d", kind, size)
	}
	must(t, custom.Resize(t.Context(), "cog", 2))
	until(t, "the new size is cached", func() bool { _, size := get(); return size == 2 })

	must(t, custom.Create(t.Context(), "nut", 3))
	until(t, "both are cached", func() bool {
		all, err := asked.Lister().List(labels.Everything())
		return err == nil && len(all) == 2
	})
	f.Forget(custom.Resource)
}
