// What a step that was killed has left is removed, and nothing else.

package session

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// definition is one of NAMESPACE's own. LABEL is its label.
const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: parts.NAMESPACE.example.com, labels: {LABEL}}
spec:
  group: NAMESPACE.example.com
  scope: Namespaced
  names: {plural: parts, singular: part, kind: Part, listKind: PartList}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// part is an object that a controller would have to let go.
const part = `apiVersion: NAMESPACE.example.com/v1
kind: Part
metadata: {name: bolt, finalizers: [example.com/nobody]}
`

// aSession has a definition, and an object with a finalizer. Its label and its process are others than
// those of real steps, which may run on the same cluster.
func aSession(t *testing.T, label, process string) *Session {
	t.Helper()
	s, err := Open(t.Context(), Options{Patience: time.Minute})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, s.Close(t.Context())) })
	files := fstest.MapFS{"testdata/part.yaml": {Data: []byte(part)}, "testdata/definition.yaml": {
		Data: []byte(strings.ReplaceAll(definition, "LABEL", madeBy+": "+label))}}
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q},"annotations":{%q:%q}}}`, madeBy, label, processKey, process)
	_, err = s.Client.CoreV1().Namespaces().Patch(t.Context(), s.Namespace, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	must.Do(t, err)
	for _, file := range []string{"definition.yaml", "part.yaml"} {
		_, err := s.Kubectl(t.Context(), files, "create", "-f", file)
		must.Do(t, err)
	}
	return s
}

func TestCleanRemovesWhatStepsHaveLeftAndNothingElse(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	ended := exec.Command("true")
	must.Do(t, ended.Run())
	host, err := os.Hostname()
	must.Do(t, err)
	dead := fmt.Sprintf("%s/%d", host, ended.Process.Pid)
	const label, other = "informer-course-test", "somebody-else"
	left, running := aSession(t, label, dead), aSession(t, label, thisProcess())
	elsewhere, bystander := aSession(t, label, "another-machine/1"), aSession(t, other, dead)

	client, err := metadata.NewForConfig(left.Config)
	must.Do(t, err)
	state := func(s *Session) string {
		_, noNamespace := client.Resource(namespaces).Get(t.Context(), s.Namespace, metav1.GetOptions{})
		_, noDefinition := client.Resource(definitions).Get(t.Context(), "parts."+s.Namespace+".example.com",
			metav1.GetOptions{})
		return fmt.Sprintf("namespace gone: %t, definition gone: %t", apierrors.IsNotFound(noNamespace),
			apierrors.IsNotFound(noDefinition))
	}
	const gone, there = "namespace gone: true, definition gone: true", "namespace gone: false, definition gone: false"
	check := func(s *Session, name, want string) {
		t.Helper()
		if got := state(s); got != want {
			t.Errorf("%s: got %s; want %s", name, got, want)
		}
	}
	clean := func(label string, all bool) string {
		var said strings.Builder
		cleaner := Cleaner{Options: Options{Patience: time.Minute}, All: all, Out: &said, course: label}
		must.Do(t, cleaner.Clean(t.Context()))
		return said.String()
	}

	said := clean(label, false)
	for _, line := range []string{
		"removing namespace " + left.Namespace,
		"removing customresourcedefinition parts." + left.Namespace + ".example.com",
		"keeping namespace " + running.Namespace + ": process " + thisProcess() + " may still run; -all removes it",
		"keeping customresourcedefinition parts." + running.Namespace + ".example.com: a step may use it",
	} {
		if !slices.Contains(strings.Split(said, "\n"), line) {
			t.Errorf("it does not say %q:\n%s", line, said)
		}
	}
	check(left, "left by a step that was killed", gone)
	check(running, "of a step that runs", there)
	check(elsewhere, "of another machine", there)
	check(bystander, "somebody else's", there)

	clean(label, true)
	check(running, "of a step that runs, with -all", gone)
	check(elsewhere, "of another machine, with -all", gone)
	check(bystander, "somebody else's, with -all", there)
	if got, want := clean(label, true), "there is nothing to remove\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	clean(other, false)
	check(bystander, "somebody else's, when it is theirs", gone)
}

// What steps and tests define on a cluster has the label.
func TestEveryDefinitionHasTheLabel(t *testing.T) {
	root, err := workspace.Root(".")
	must.Do(t, err)
	count := 0
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) != ".yaml":
			return nil
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("kind: CustomResourceDefinition\n")) {
			if count++; !bytes.Contains(text, []byte("labels: {"+madeBy+": "+course+"}")) {
				t.Errorf("%s: got no label %s: %s, want one, so that scripts/clean.sh finds it", path, madeBy, course)
			}
		}
		return err
	}))
	if count < 5 {
		t.Errorf("found only %d definitions", count)
	}
}
