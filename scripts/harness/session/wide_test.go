// What kubectl says, and what it makes outside the namespace.

package session_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.NAMESPACE.example.com}
spec:
  group: NAMESPACE.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const cog = `apiVersion: NAMESPACE.example.com/v1
kind: Widget
metadata: {name: cog}
`

// In a file, NAMESPACE is the session's own; what the file defines can be used
// at once; and the end of the session removes the definition.
func TestADefinitionGoesWithItsSession(t *testing.T) {
	t.Parallel()
	outside := sessiontest.Open(t)
	client, err := dynamic.NewForConfig(outside.Config)
	must.Do(t, err)
	s, err := session.Open(t.Context(), session.Options{Patience: sessiontest.Patience})
	must.Do(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	closing := sync.OnceValue(func() error { return s.Close(ended) }) // works even then
	defer closing()
	files := fstest.MapFS{"testdata/widgets.yaml": {Data: []byte(widgets)}, "testdata/cog.yaml": {Data: []byte(cog)}}
	var answer []string
	for _, line := range []string{
		"get pods -o name", // from here on, the server's types are known
		"create -f widgets.yaml",
		"create -f cog.yaml",
		"get widgets.NAMESPACE.example.com -o name",
	} {
		words := strings.Fields(strings.ReplaceAll(line, "NAMESPACE", s.Namespace))
		if answer, err = s.Kubectl(t.Context(), files, words[0], words[1:]...); err != nil {
			t.Fatalf("kubectl %s: %v", line, err)
		}
	}
	want := "widget." + s.Namespace + ".example.com/cog"
	expect.That(t, len(answer) == 1 && answer[0] == want, "got %q, want %s", answer, want)
	must.Do(t, closing())
	definitions := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	must.Until(t, "the definition is gone", func() bool {
		_, err := definitions.Get(t.Context(), "widgets."+s.Namespace+".example.com", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// What get prints, and what kubectl says of errors; nothing else.
func TestWhatKubectlSays(t *testing.T) {
	s := sessiontest.Open(t)
	for _, test := range []struct{ line, want string }{
		{"create configmap one --from-literal=sky=blue", "[] <nil>"},
		{"create configmap one", `[] error: failed to create configmap: configmaps "one" already exists`},
		{"get configmap one -o jsonpath={.data.sky}", "[blue] <nil>"},
		{"get configmaps -l app=none -o name", "[] <nil>"},
		{"get configmap missing -o name", `[] Error from server (NotFound): configmaps "missing" not found`},
		{"get unicorns", `[] error: the server doesn't have a resource type "unicorns"`},
		{"brew coffee", `[] error: unknown command "brew" for "kubectl"`},
		{"run nettool", `[] error: required flag(s) "image" not set`},
		{"create -f missing.yaml", `[] error: the path "missing.yaml" does not exist`},
		{"wait configmap one --for=delete --timeout=0", // it looks once, and does not wait
			"[] error: condition not met for configmaps/one"},
		{"delete configmap one", "[] <nil>"},
	} {
		words := strings.Fields(test.line)
		lines, err := s.Kubectl(t.Context(), fstest.MapFS{}, words[0], words[1:]...)
		got := fmt.Sprint(lines, " ", err)
		expect.That(t, got == test.want, "kubectl %s\ngot  %s\nwant %s", test.line, got, test.want)
	}
}
