package factory

import (
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// The informer of a custom resource comes from the same factory as that of ConfigMaps. The custom
// resource has no Go type.
func TestACustomResource(t *testing.T) {
	s := sessiontest.Open(t)
	kubectl := func(format string, args ...any) {
		t.Helper()
		words := strings.Fields(fmt.Sprintf(format, args...))
		_, err := s.Kubectl(t.Context(), os.DirFS(".."), words[0], words[1:]...) // the files are in ../testdata
		must.NoError(t, err)
	}
	widgets := schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1", Resource: "widgets"}
	kubectl("create -f crd.yaml")
	kubectl("wait crd %s --for=condition=Established", widgets.GroupResource())
	kubectl("create -f cog.yaml")

	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	f := New(s.Client, Options{Namespace: s.Namespace, Kinds: true, Dynamic: client})
	f.ConfigMaps()
	first, err := f.ForResource(widgets)
	must.NoError(t, err)
	second, err := f.ForResource(widgets)
	must.NoError(t, err)
	if second.Informer() != first.Informer() {
		t.Error("the second ForResource(widgets) returns another informer")
	}
	start(t, f)
	getCog := func() (kind string, size int64) {
		obj, err := first.Lister().ByNamespace(s.Namespace).Get("cog")
		must.NoError(t, err)
		widget := obj.(*unstructured.Unstructured)
		size, _, err = unstructured.NestedInt64(widget.Object, "spec", "size")
		must.NoError(t, err)
		return widget.GetKind(), size
	}
	kind, size := getCog()
	if kind != "Widget" {
		t.Errorf("the cached object has kind %q, want Widget", kind)
	}
	if size != 1 {
		t.Errorf("the cached object has size %d, want 1", size)
	}
	kubectl(`patch %s cog --type=merge --patch {"spec":{"size":2}}`, widgets.GroupResource())
	must.Until(t, "the new size is cached", func() bool {
		_, size := getCog()
		return size == 2
	})

	_, err = client.Resource(widgets).Namespace(s.Namespace).Create(t.Context(), &unstructured.Unstructured{
		Object: map[string]any{
			"apiVersion": widgets.GroupVersion().String(),
			"kind":       "Widget",
			"metadata":   map[string]any{"name": "nut"},
		},
	}, metav1.CreateOptions{})
	must.NoError(t, err)
	must.Until(t, "both widgets are cached", func() bool {
		all, err := first.Lister().List(labels.Everything())
		return err == nil && len(all) == 2
	})
	f.Forget(widgets)
}
