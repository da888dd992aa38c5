// Tests of FindKubectl and Kubectl, with shell scripts in the place of kubectl.

package session

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/must"
)

// fakeSession returns a session in a new workspace, with a script for each kubectl: own is the
// kubectl in .cluster/bin, inPath that in PATH. If a script is "", there is no such kubectl.
func fakeSession(t *testing.T, own, inPath string) *Session {
	t.Helper()
	root := t.TempDir()
	bin := filepath.Join(root, "bin")
	must.NoError(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	for dir, script := range map[string]string{filepath.Join(root, ".cluster", "bin"): own, bin: inPath} {
		must.NoError(t, os.MkdirAll(dir, 0o755))
		if script != "" {
			must.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!/bin/sh\n"+script), 0o755))
		}
	}
	t.Chdir(root)
	t.Setenv("PATH", bin+":/bin:/usr/bin")
	if inPath == "" {
		t.Setenv("PATH", bin)
	}
	s := &Session{Config: &rest.Config{Host: root}, Namespace: "informer-x", patience: time.Minute}
	t.Cleanup(func() { _ = s.removeFiles(context.WithoutCancel(t.Context())) })
	return s
}

func TestFindKubectl(t *testing.T) {
	for _, test := range []struct {
		name        string
		own, inPath string // the scripts
		want        string // the output of the kubectl that is used
	}{
		{name: "two", own: "echo own", inPath: "echo PATH", want: "own"},
		{name: "only one in PATH", inPath: "echo PATH", want: "PATH"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, err := fakeSession(t, test.own, test.inPath).Kubectl(t.Context(), nil, "get")
			if want := []string{test.want}; err != nil || !slices.Equal(lines, want) {
				t.Errorf("Kubectl() = %q, %v; want %q, nil", lines, err, want)
			}
		})
	}
	const want = "there is no kubectl: go run ./scripts/cluster prepare puts one into .cluster/bin"
	if _, err := fakeSession(t, "", "").Kubectl(t.Context(), nil, "get"); err == nil || err.Error() != want {
		t.Errorf("Kubectl() = %v, want %s", err, want)
	}
}

// A user can paste the command into any terminal: it names an existing kubectl, and has quotes
// where a shell needs them.
func TestKubectlCommand(t *testing.T) {
	for _, test := range []struct {
		name       string
		isInPath   bool // .cluster/bin has a link to the kubectl in PATH
		kubeconfig string
		context    string
		want       string
	}{
		{name: "the one in PATH", isInPath: true, kubeconfig: "/a:/b", want: "KUBECONFIG=/a:/b kubectl -n informer-x"},
		{name: "another one", kubeconfig: "/a", want: "KUBECONFIG=/a ROOT/.cluster/bin/kubectl -n informer-x"},
		{
			name: "a context", isInPath: true, kubeconfig: "/a", context: "kind-it's (mine)",
			want: `KUBECONFIG=/a kubectl --context 'kind-it'\''s (mine)' -n informer-x`,
		},
		{
			name: "a path with a space", isInPath: true, kubeconfig: "/my clone/a",
			want: "KUBECONFIG='/my clone/a' kubectl -n informer-x",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := fakeSession(t, "true", "true")
			root, err := os.Getwd()
			must.NoError(t, err)
			if test.isInPath {
				must.NoError(t, os.Remove(".cluster/bin/kubectl"))
				must.NoError(t, os.Symlink(filepath.Join(root, "bin", "kubectl"), ".cluster/bin/kubectl"))
			}
			s.kubeconfig, s.context = test.kubeconfig, test.context
			must.NoError(t, s.FindKubectl())
			want := strings.ReplaceAll(test.want, "ROOT", root)
			if got := s.KubectlCommand(); got != want {
				t.Errorf("KubectlCommand() = %s\nwant %s", got, want)
			}
		})
	}
}

// File copies a file of a chapter, for a command in another terminal.
func TestFile(t *testing.T) {
	s := fakeSession(t, "true", "")
	files := fstest.MapFS{"testdata/a.yaml": {Data: []byte("name: NAMESPACE\n")}}
	file, err := s.File(files, "a.yaml")
	must.NoError(t, err)
	if !filepath.IsAbs(file) {
		t.Errorf("File() = %s, want an absolute path", file)
	}
	text, err := os.ReadFile(file)
	must.NoError(t, err)
	if want := "name: informer-x\n"; string(text) != want {
		t.Errorf("the copy has the text %q, want %q", text, want)
	}
	if _, err := s.File(files, "b.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("File() of a file that does not exist = %v, want %v", err, os.ErrNotExist)
	}
}

// kubectl gets the flags and the environment of the session, and runs beside the file of the
// chapter.
func TestKubectlArguments(t *testing.T) {
	s := fakeSession(t, `echo "$@" $KUBECONFIG $KUBERC; cat -- *.yaml`, "")
	t.Setenv("PATH", "/bin:/usr/bin")
	s.kubeconfig, s.context = "/a:/b", "here"
	files := fstest.MapFS{"testdata/a.yaml": {Data: []byte("name: NAMESPACE\n")}}
	lines, err := s.Kubectl(t.Context(), files, "get", "-f", "a.yaml")
	must.NoError(t, err)
	root, err := os.Getwd()
	must.NoError(t, err)
	want := []string{
		"get --context=here --namespace=informer-x --cache-dir=" + root + "/.cluster/cache -f a.yaml /a:/b off",
		"name: informer-x",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("Kubectl() = %q\nwant %q", lines, want)
	}
	dir := s.dir
	must.NoError(t, s.removeFiles(t.Context()))
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat of the session's folder: error %v, want %v", err, os.ErrNotExist)
	}
}

// The end of the context kills kubectl and its children.
func TestCtrlCKillsKubectl(t *testing.T) {
	s := fakeSession(t, "exec 3>fifo; sleep 1000 & echo >&3; sleep 1000", "")
	t.Setenv("PATH", "/bin:/usr/bin")
	must.NoError(t, s.FindKubectl())
	fifo := filepath.Join(s.dir, "fifo")
	must.NoError(t, syscall.Mkfifo(fifo, 0o600))
	ctx, ctrlC := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Kubectl(ctx, nil, "wait")
		ended <- err
	}()
	held, err := os.Open(fifo)
	must.NoError(t, err)
	defer held.Close()
	_, err = held.Read(make([]byte, 1)) // kubectl and its child run
	must.NoError(t, err)
	ctrlC()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Kubectl() = %v, want %v", err, context.Canceled)
	}
	_, err = io.ReadAll(held) // until no process holds the other end
	must.NoError(t, err)
}
