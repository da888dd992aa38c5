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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// A custom resource beside a built-in one: no Go type, the same factory.
func TestACustomResource(t *testing.T) {
	s := sessiontest.Open(t)
	kubectl := func(format string, args ...any) {
		t.Helper()
		words := strings.Fields(fmt.Sprintf(format, args...))
		_, err := s.Kubectl(t.Context(), os.DirFS(".."), words[0], words[1:]...) // with the chapter's files
		must.Do(t, err)
	}
	widgets := schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1", Resource: "widgets"}
	kubectl("create -f crd.yaml")
	kubectl("wait crd %s --for=condition=Established", widgets.GroupResource())
	kubectl("create -f cog.yaml")

	client, err := dynamic.NewForConfig(s.Config)
	must.Do(t, err)
	f := New(s.Client, Options{Namespace: s.Namespace, Kinds: true, Dynamic: client})
	f.ConfigMaps()
	asked, err := f.ForResource(widgets)
	must.Do(t, err)
	again, err := f.ForResource(widgets)
	must.Do(t, err)
	expect.That(t, again.Informer() == asked.Informer(), "there is more than one informer of widgets")
	start(t, f)
	cog := func() (kind string, size int64) {
		obj, err := asked.Lister().ByNamespace(s.Namespace).Get("cog")
		must.Do(t, err)
		widget := obj.(*unstructured.Unstructured)
		size, _, err = unstructured.NestedInt64(widget.Object, "spec", "size")
		must.Do(t, err)
		return widget.GetKind(), size
	}
	kind, size := cog()
	expect.That(t, kind == "Widget" && size == 1, "got a %s of size %d", kind, size)
	kubectl(`patch %s cog --type=merge --patch {"spec":{"size":2}}`, widgets.GroupResource())
	must.Until(t, "the new size is cached", func() bool { _, size := cog(); return size == 2 })

	_, err = client.Resource(widgets).Namespace(s.Namespace).Create(t.Context(), &unstructured.Unstructured{
		Object: map[string]any{
			"apiVersion": widgets.GroupVersion().String(), "kind": "Widget", "metadata": map[string]any{"name": "nut"},
		},
	}, metav1.CreateOptions{})
	must.Do(t, err)
	must.Until(t, "both are cached", func() bool {
		all, err := asked.Lister().List(labels.Everything())
		return err == nil && len(all) == 2
	})
	f.Forget(widgets)
}
