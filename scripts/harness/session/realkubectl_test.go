// Tests of the real kubectl: its answers, and definitions that it creates for the whole cluster.

package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

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

// In a file, NAMESPACE stands for the session's namespace. A type that the file defines can be used
// immediately. Close removes the definition.
func TestADefinitionGoesWithItsSession(t *testing.T) {
	t.Parallel()
	outside := sessiontest.Open(t)
	client, err := dynamic.NewForConfig(outside.Config)
	must.NoError(t, err)
	s, err := session.Open(t.Context(), session.Options{Patience: sessiontest.Patience})
	must.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	closeOnce := sync.OnceValue(func() error { return s.Close(ended) })
	defer closeOnce()
	files := fstest.MapFS{"testdata/widgets.yaml": {Data: []byte(widgets)}, "testdata/cog.yaml": {Data: []byte(cog)}}
	var answer []string
	for _, line := range []string{
		"get pods -o name", // from here on, the server's types are known
		"create -f widgets.yaml",
		"create -f cog.yaml",
		"get widgets.NAMESPACE.example.com -o name",
	} {
		words := strings.Fields(strings.ReplaceAll(line, "NAMESPACE", s.Namespace))
		answer, err = s.Kubectl(t.Context(), files, words[0], words[1:]...)
		if err != nil {
			t.Fatalf("kubectl %s: %v", line, err)
		}
	}
	if want := []string{"widget." + s.Namespace + ".example.com/cog"}; !slices.Equal(answer, want) {
		t.Errorf("kubectl get printed %q, want %q", answer, want)
	}
	must.NoError(t, closeOnce())
	definitions := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	must.Until(t, "the definition is gone", func() bool {
		_, err := definitions.Get(t.Context(), "widgets."+s.Namespace+".example.com", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// A type is served when the command that defines it returns: a client that lists it immediately gets
// no 404.
func TestADefinitionIsServedWhenItsCommandReturns(t *testing.T) {
	s := sessiontest.Open(t)
	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	files := fstest.MapFS{}
	for i := range 5 {
		plural := fmt.Sprintf("widget%ds", i)
		text := strings.ReplaceAll(widgets, "widgets", plural)
		text = strings.ReplaceAll(text, "Widget", fmt.Sprintf("Widget%d", i))
		text = strings.ReplaceAll(text, "singular: widget", fmt.Sprintf("singular: widget%d", i))
		files["testdata/"+plural+".yaml"] = &fstest.MapFile{Data: []byte(text)}
		_, err := s.Kubectl(t.Context(), files, "create", "-f", plural+".yaml")
		must.NoError(t, err)
		resource := schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1", Resource: plural}
		if _, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("list of %s: %v", plural, err)
		}
	}
}

// Kubectl returns the lines of get, and the errors in kubectl's words, and nothing else.
func TestKubectlAnswers(t *testing.T) {
	s := sessiontest.Open(t)
	for _, test := range []struct {
		line  string
		lines []string
		err   string // "" for none
	}{
		{line: "create configmap one --from-literal=sky=blue"},
		{line: "create configmap one", err: `error: failed to create configmap: configmaps "one" already exists`},
		{line: "get configmap one -o jsonpath={.data.sky}", lines: []string{"blue"}},
		{line: "get configmaps -l app=none -o name"},
		{line: "get configmap missing -o name", err: `Error from server (NotFound): configmaps "missing" not found`},
		{line: "get unicorns", err: `error: the server doesn't have a resource type "unicorns"`},
		{line: "brew coffee", err: `error: unknown command "brew" for "kubectl"`},
		{line: "run nettool", err: `error: required flag(s) "image" not set`},
		{line: "create -f missing.yaml", err: `error: the path "missing.yaml" does not exist`},
		{
			line: "wait configmap one --for=delete --timeout=0", // it looks once, and does not wait
			err:  "error: condition not met for configmaps/one",
		},
		{line: "delete configmap one"},
	} {
		words := strings.Fields(test.line)
		lines, err := s.Kubectl(t.Context(), fstest.MapFS{}, words[0], words[1:]...)
		if !slices.Equal(lines, test.lines) {
			t.Errorf("kubectl %s printed %q, want %q", test.line, lines, test.lines)
		}
		var errText string
		if err != nil {
			errText = err.Error()
		}
		if errText != test.err {
			t.Errorf("kubectl %s: error %q, want %q", test.line, errText, test.err)
		}
	}
}
