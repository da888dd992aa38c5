// Our kubectl commands beside a real kubectl: the same lines have the same
// effect, and the same lines are refused.

package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

const gatedPod = `apiVersion: v1
kind: Pod
metadata:
  name: gated
spec:
  schedulingGates: [{name: example.com/never}]
  containers: [{name: gated, image: registry.k8s.io/pause:3.10.2}]
`

var files = fstest.MapFS{"testdata/gated.yaml": {Data: []byte(gatedPod)}}

// A kubectlRunner runs kubectl command lines in a namespace of its own.
type kubectlRunner struct {
	session *session.Session
	run     func(ctx context.Context, args []string) (answer string, err error)
}

func ours(t *testing.T) kubectlRunner {
	s := sessiontest.Open(t)
	return kubectlRunner{s, func(ctx context.Context, args []string) (string, error) {
		command, err := session.ParseKubectl(args, files)
		if err != nil {
			return "", err
		}
		lines, err := command.Run(ctx, s)
		return strings.Join(lines, "\n"), err
	}}
}

// theirs is the kubectl that the control plane's module pins.
func theirs(t *testing.T) kubectlRunner {
	s := sessiontest.Open(t)
	build := exec.CommandContext(t.Context(), "go", "tool", "-n", "kubectl")
	build.Dir = filepath.Join("..", "..", "controlplane")
	build.Env = append(os.Environ(), "GOWORK=off")
	build.Stderr = t.Output()
	kubectl, err := build.Output()
	if err != nil {
		t.Fatalf("building kubectl: %v", err)
	}
	dir := t.TempDir()
	for name, file := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	flags := strings.Fields(s.KubectlCommand())[1:]
	return kubectlRunner{s, func(ctx context.Context, args []string) (string, error) {
		cmd := exec.CommandContext(ctx, strings.TrimSpace(string(kubectl)), slices.Concat(flags, args)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "KUBECACHEDIR="+dir)
		var said bytes.Buffer
		cmd.Stderr = &said
		answer, err := cmd.Output()
		t.Logf("%v: %s%s", args, answer, &said)
		return strings.TrimSpace(string(answer)), err
	}}
}

// What each line makes of the namespace, it makes of the other one as well.
func TestKubectlDoesWhatKubectlDoes(t *testing.T) {
	t.Parallel()
	both := []kubectlRunner{ours(t), theirs(t)}
	for _, line := range []string{
		"create configmap empty",
		"create configmap colours --from-literal=sky=blue --from-literal=grass=green",
		"run nettool --image=registry.k8s.io/pause:3.10.2",
		"run web --image=registry.k8s.io/pause:3.10.2 --labels=app=web,tier=front",
		"create -f gated.yaml",
		"create serviceaccount reader",
		"create role reader --verb=list,watch --resource=configmaps",
		"create role scaler --verb=get --resource=deployments",
		"create rolebinding reader --role=reader --serviceaccount=elsewhere:reader",
		"create deployment shop --image=registry.k8s.io/pause:3.10.2 --replicas=2",
		"expose deployment shop --port=80",
		"label pod gated app=web tier=front",
		"label --overwrite pod/gated app=db tier-",
		`patch configmap colours --patch {"data":{"sky":"grey"}}`,
		`patch configmap empty --type=merge -p {"data":{"a":"b"}}`,
		`patch configmap empty --type=json -p [{"op":"remove","path":"/data/a"}]`,
		"wait pod nettool --for=condition=Ready",
		"wait pod web --for=jsonpath={.status.phase}=Running",
		"delete configmap colours",
		"delete pod nettool",
		"wait pod nettool --for=delete",
		"delete deployment/shop --wait=false",
		"delete pod gated --wait=false",
	} {
		args := strings.Fields(line)
		for _, s := range both {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			if answer, err := s.run(ctx, args); err != nil {
				t.Fatalf("kubectl %s: %v %s", line, err, answer)
			}
			cancel()
		}
		untilSame(t, line, both)
	}
}

// untilSame waits until both namespaces hold the same, as far as users make it:
// what controllers add comes in its own time.
func untilSame(t *testing.T, line string, both []kubectlRunner) {
	t.Helper()
	var a, b map[string]any
	if wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) {
			a, b = contents(t, both[0].session), contents(t, both[1].session)
			return reflect.DeepEqual(a, b), nil
		}) != nil {
		ours, _ := json.MarshalIndent(a, "", " ")
		theirs, _ := json.MarshalIndent(b, "", " ")
		t.Fatalf("after kubectl %s\nours:\n%s\ntheirs:\n%s", line, ours, theirs)
	}
}

// contents are the objects of a namespace without what differs from one to the
// other: times, versions, addresses.
func contents(t *testing.T, s *session.Session) map[string]any {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, gvr := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"},
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "serviceaccounts"},
		{Version: "v1", Resource: "services"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	} {
		list, err := client.Resource(gvr).Namespace(s.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, obj := range list.Items {
			if obj.GetGenerateName() == "" { // a controller has made the others
				all[gvr.Resource+"/"+obj.GetName()] = strip(obj)
			}
		}
	}
	return all
}

func strip(obj unstructured.Unstructured) map[string]any {
	var managers []any
	for _, m := range obj.GetManagedFields() {
		if strings.HasPrefix(m.Manager, "kubectl") {
			fields := map[string]any{}
			_ = json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields)
			managers = append(managers, m.Manager, string(m.Operation), m.Subresource, fields)
		}
	}
	deleted := obj.GetDeletionTimestamp() != nil
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "namespace", "managedFields",
		"deletionTimestamp", "generation"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", field)
	}
	for _, field := range []string{"clusterIP", "clusterIPs", "volumes", "containers", "nodeName"} {
		if obj.GetKind() == "Service" || obj.GetKind() == "Pod" && field != "containers" {
			unstructured.RemoveNestedField(obj.Object, "spec", field)
		}
	}
	if containers, ok, _ := unstructured.NestedSlice(obj.Object, "spec", "containers"); ok {
		for _, container := range containers {
			delete(container.(map[string]any), "volumeMounts") // the name of the token's is random
		}
		_ = unstructured.SetNestedSlice(obj.Object, containers, "spec", "containers")
	}
	unstructured.RemoveNestedField(obj.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
	delete(obj.Object, "status")
	return map[string]any{"object": obj.Object, "managers": managers, "deleted": deleted}
}

func TestKubectlAnswersWhatKubectlAnswers(t *testing.T) {
	t.Parallel()
	both := []kubectlRunner{ours(t), theirs(t)}
	for _, s := range both {
		for _, line := range []string{
			"create configmap one --from-literal=sky=blue", "create configmap two",
			"create deployment shop --image=registry.k8s.io/pause:3.10.2 --replicas=0",
		} {
			if _, err := s.run(t.Context(), strings.Fields(line)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, line := range []string{
		"get configmaps -o name",
		"get cm one -o name",
		"get configmap/one -o jsonpath={.data.sky}",
		"get configmaps -o jsonpath={.items[*].metadata.name}",
		"get deployments -o name",
		"get deployments -l app=none -o name",
	} {
		var answers [2]string
		for i, s := range both {
			answer, err := s.run(t.Context(), strings.Fields(line))
			if err != nil {
				t.Errorf("kubectl %s: %v", line, err)
			}
			answers[i] = answer
		}
		if answers[0] != answers[1] {
			t.Errorf("kubectl %s\nours:   %q\ntheirs: %q", line, answers[0], answers[1])
		}
	}
}

func TestKubectlRefusesWhatKubectlRefuses(t *testing.T) {
	t.Parallel()
	both := []kubectlRunner{ours(t), theirs(t)}
	for _, line := range []string{
		"brew coffee",
		"run",
		"run nettool",
		"run nettool --image=x --colour=blue",
		"create",
		"create configmap",
		"create configmap one two",
		"create configmap one --from-literal=sky",
		"create -f missing.yaml",
		"create unicorn one",
		"create deployment shop",
		"create role reader --verb=list",
		"create rolebinding reader --role=reader --serviceaccount=reader",
		"expose deployment shop",
		"label pod gated",
		"label pod gated app",
		"label pod missing app=web",
		"patch configmap missing --patch {}",
		"patch configmap one --patch {",
		"patch configmap one --type=guess --patch {}",
		"delete configmap missing",
		"delete unicorn one",
		"get unicorns -o name",
		"get configmap missing -o name",
		"get configmaps -o jsonpath={.items",
		"wait pod missing --for=condition=Ready",
		"wait pod missing",
		"wait configmap kube-root-ca.crt --for=condition=Ready --timeout=1s",
	} {
		for i, s := range both {
			if answer, err := s.run(t.Context(), strings.Fields(line)); err == nil {
				t.Errorf("kubectl %s: %s does not refuse it: %q", line, []string{"ours", "theirs"}[i], answer)
			}
		}
	}
}

// A label that is there already is not changed without --overwrite.
func TestKubectlLabelDoesNotOverwrite(t *testing.T) {
	t.Parallel()
	for _, s := range []kubectlRunner{ours(t), theirs(t)} {
		for _, line := range []string{"create configmap one", "label configmap one app=web"} {
			if _, err := s.run(t.Context(), strings.Fields(line)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.run(t.Context(), strings.Fields("label configmap one app=db")); err == nil {
			t.Error("it was overwritten")
		}
	}
}
