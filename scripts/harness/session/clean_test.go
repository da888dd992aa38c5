// Tests that scripts/clean.sh removes what steps have left, and nothing else.

package session

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// partDefinition defines a type for one NAMESPACE. LABEL stands for its label.
const partDefinition = `apiVersion: apiextensions.k8s.io/v1
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

// openLabelled opens a session of a process, with a definition, and with an object that has a
// finalizer. Its label differs from that of real steps, which may run on the same cluster.
func openLabelled(t *testing.T, label, process string) *Session {
	t.Helper()
	s, err := Open(t.Context(), Options{Patience: time.Minute})
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, s.Close(t.Context())) })
	files := fstest.MapFS{
		"testdata/part.yaml":       {Data: []byte(part)},
		"testdata/definition.yaml": {Data: []byte(strings.ReplaceAll(partDefinition, "LABEL", madeBy+": "+label))},
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
	root, err := workspace.Root(".")
	must.NoError(t, err)
	ended := exec.Command("true")
	must.NoError(t, ended.Run())
	host, err := os.Hostname()
	must.NoError(t, err)
	dead := fmt.Sprintf("%s/%d", host, ended.Process.Pid)
	const label = "informer-course-test"
	left, running := openLabelled(t, label, dead), openLabelled(t, label, thisProcess())
	elsewhere, bystander := openLabelled(t, label, "another-machine/1"), openLabelled(t, "somebody-else", dead)

	clean := func(want string, args ...string) {
		t.Helper()
		script := exec.Command(filepath.Join(root, "scripts", "clean.sh"), args...)
		script.Env = append(os.Environ(), "COURSE="+label, "KUBECONFIG="+left.kubeconfig)
		output, err := script.CombinedOutput()
		if err != nil || !strings.Contains(string(output), want) {
			t.Errorf("clean.sh %q: %v, and it printed\n%s\nwant %q in it", args, err, output, want)
		}
	}
	// wantExist wants the namespace and the definition of a session, or one of them, or none.
	wantExist := func(when string, s *Session, want int) {
		t.Helper()
		got, err := bystander.Kubectl(t.Context(), nil, "get", "namespace/"+s.Namespace,
			"customresourcedefinition/parts."+s.Namespace+".example.com", "--ignore-not-found", "--output=name")
		must.NoError(t, err)
		if len(got) != want {
			t.Errorf("%s there is %q, want %d of a namespace and a definition", when, got, want)
		}
	}

	clean("keeping namespace " + running.Namespace + ": process " + thisProcess() + " may still run; -all removes it\n")
	wantExist("of a step that was killed", left, 1) // a step that runs may use the definition
	wantExist("of a step that runs", running, 2)
	wantExist("of a step on another machine", elsewhere, 2)
	clean(running.Namespace, "-all")
	for _, s := range []*Session{left, running, elsewhere} {
		wantExist("after -all", s, 0)
	}
	clean("there is nothing to remove\n")
	wantExist("with another label", bystander, 2)
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
