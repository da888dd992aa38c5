// Tests that Cleaner removes what steps have left, and nothing else.

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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// definition defines a type for one NAMESPACE. LABEL stands for its label.
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

// part is an object with a finalizer, which no controller removes.
const part = `apiVersion: NAMESPACE.example.com/v1
kind: Part
metadata: {name: bolt, finalizers: [example.com/nobody]}
`

// openLabelled opens a session with a definition, and with an object that has a finalizer. Its
// label differs from that of real steps, which may run on the same cluster.
func openLabelled(t *testing.T, label, process string) *Session {
	t.Helper()
	s, err := Open(t.Context(), Options{Patience: time.Minute})
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, s.Close(t.Context())) })
	labelled := strings.ReplaceAll(definition, "LABEL", madeBy+": "+label)
	files := fstest.MapFS{
		"testdata/part.yaml":       {Data: []byte(part)},
		"testdata/definition.yaml": {Data: []byte(labelled)},
	}
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q},"annotations":{%q:%q}}}`, madeBy, label, processKey, process)
	_, err = s.Client.CoreV1().Namespaces().Patch(t.Context(), s.Namespace, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	must.NoError(t, err)
	for _, file := range []string{"definition.yaml", "part.yaml"} {
		_, err := s.Kubectl(t.Context(), files, "create", "-f", file)
		must.NoError(t, err)
	}
	return s
}

func TestCleanRemovesWhatStepsHaveLeftAndNothingElse(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	ended := exec.Command("true")
	must.NoError(t, ended.Run())
	host, err := os.Hostname()
	must.NoError(t, err)
	dead := fmt.Sprintf("%s/%d", host, ended.Process.Pid)
	const label, other = "informer-course-test", "somebody-else"
	left, running := openLabelled(t, label, dead), openLabelled(t, label, thisProcess())
	elsewhere, bystander := openLabelled(t, label, "another-machine/1"), openLabelled(t, other, dead)

	client, err := metadata.NewForConfig(left.Config)
	must.NoError(t, err)
	exists := func(resource schema.GroupVersionResource, name string) bool {
		t.Helper()
		_, err := client.Resource(resource).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false
		}
		must.NoError(t, err)
		return true
	}
	wantExists := func(s *Session, description string, want bool) {
		t.Helper()
		if got := exists(namespaces, s.Namespace); got != want {
			t.Errorf("the namespace %s exists: %t, want %t", description, got, want)
		}
		if got := exists(definitions, "parts."+s.Namespace+".example.com"); got != want {
			t.Errorf("the definition %s exists: %t, want %t", description, got, want)
		}
	}
	clean := func(label string, all bool) (output string) {
		t.Helper()
		var out strings.Builder
		cleaner := Cleaner{Options: Options{Patience: time.Minute}, All: all, Out: &out, course: label}
		must.NoError(t, cleaner.Clean(t.Context()))
		return out.String()
	}

	output := clean(label, false)
	for _, line := range []string{
		"removing namespace " + left.Namespace,
		"removing customresourcedefinition parts." + left.Namespace + ".example.com",
		"keeping namespace " + running.Namespace + ": process " + thisProcess() + " may still run; -all removes it",
		"keeping customresourcedefinition parts." + running.Namespace + ".example.com: a step may use it",
	} {
		if !slices.Contains(strings.Split(output, "\n"), line) {
			t.Errorf("Clean() printed\n%s\nwant the line %q", output, line)
		}
	}
	wantExists(left, "of a step that was killed", false)
	wantExists(running, "of a step that runs", true)
	wantExists(elsewhere, "of a step on another machine", true)
	wantExists(bystander, "with another label", true)

	clean(label, true)
	wantExists(running, "of a step that runs, with -all,", false)
	wantExists(elsewhere, "of a step on another machine, with -all,", false)
	wantExists(bystander, "with another label, with -all,", true)
	if got, want := clean(label, true), "there is nothing to remove\n"; got != want {
		t.Errorf("a second Clean() printed %q, want %q", got, want)
	}
	clean(other, false)
	wantExists(bystander, "with another label, after a Clean of that label,", false)
}

// Each definition of a step or of a test has the label.
func TestEveryDefinitionHasTheLabel(t *testing.T) {
	root, err := workspace.Root(".")
	must.NoError(t, err)
	count := 0
	must.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) != ".yaml":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("kind: CustomResourceDefinition\n")) {
			return err
		}
		count++
		if label := "labels: {" + madeBy + ": " + course + "}"; !bytes.Contains(text, []byte(label)) {
			t.Errorf("%s lacks %q: scripts/clean.sh does not find this definition", path, label)
		}
		return nil
	}))
	if count < 5 {
		t.Errorf("found %d definitions, want 5 at least", count)
	}
}
