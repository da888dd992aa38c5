// Tests of FindKubectl and Kubectl, with shell scripts in the place of kubectl.

package session

import (
	"context"
	"errors"
	"fmt"
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

// fakeKubectl returns a script that prints these versions for "kubectl version". For any other
// command it runs script.
func fakeKubectl(client, server, script string) string {
	return fmt.Sprintf(`if [ "$1" = version ]; then
	echo '{"clientVersion":{"gitVersion":"%s"},"serverVersion":{"gitVersion":"%s"}}'
	exit
fi
%s`, client, server, script)
}

func TestFindKubectl(t *testing.T) {
	const server = "v1.37.1"
	script := func(client, output string) string { return fakeKubectl(client, server, "echo "+output) }
	for _, test := range []struct {
		name   string
		own    string // the script in .cluster/bin
		inPath string // the script in PATH
		want   string // the output of the kubectl that is used
		err    string
	}{
		{
			name: "PATH has one that fits",
			own:  script("v1.37.0", "own"), inPath: script("v1.36.9-dispatcher", "PATH"),
			want: "PATH",
		},
		{
			name: "PATH has one that does not fit",
			own:  script("v1.37.0", "own"), inPath: script("v1.35.7", "PATH"),
			want: "own",
		},
		{name: "PATH has none", own: script("v1.39.0", "own"), want: "own"},
		{
			name: "PATH has another program",
			own:  script("v1.37.0", "own"), inPath: "echo coffee",
			want: "own",
		},
		{
			name:   "none fits",
			inPath: script("v1.35.7", "PATH"),
			err: "bin/kubectl is v1.35.7, more than one minor version from the server's v1.37.1: " +
				"go run ./scripts/cluster prepare puts one into .cluster/bin",
		},
		{name: "there is none", err: "there is no kubectl: go run ./scripts/cluster prepare"},
		{name: "no server", inPath: "echo 'no route' >&2; exit 1", err: "no route"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, err := fakeSession(t, test.own, test.inPath).Kubectl(t.Context(), nil, "get")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("Kubectl() = %q, %v; want an error with %q", lines, err, test.err)
				}
				return
			}
			if want := []string{test.want}; err != nil || !slices.Equal(lines, want) {
				t.Errorf("Kubectl() = %q, %v; want %q, nil", lines, err, want)
			}
		})
	}
}

// A user can paste the command into any terminal: it names an existing kubectl, and has quotes
// where a shell needs them.
func TestKubectlCommand(t *testing.T) {
	fits := fakeKubectl("v1.37.0", "v1.37.0", "")
	tooOld := fakeKubectl("v1.35.7", "v1.37.0", "")
	for _, test := range []struct {
		name       string
		inPath     string // the script in PATH; the one in .cluster/bin fits
		kubeconfig string
		context    string
		want       string
	}{
		{name: "PATH has one that fits", inPath: fits, kubeconfig: "/a:/b",
			want: "KUBECONFIG=/a:/b kubectl -n informer-x"},
		{
			name: "PATH has none", kubeconfig: "/a",
			want: "KUBECONFIG=/a ROOT/.cluster/bin/kubectl -n informer-x",
		},
		{
			name: "PATH has one that does not fit", inPath: tooOld, kubeconfig: "/a",
			want: "KUBECONFIG=/a ROOT/.cluster/bin/kubectl -n informer-x",
		},
		{
			name: "a context", inPath: fits, kubeconfig: "/a", context: "kind-it's (mine)",
			want: `KUBECONFIG=/a kubectl --context 'kind-it'\''s (mine)' -n informer-x`,
		},
		{
			name: "a path with a space", inPath: fits, kubeconfig: "/my clone/a",
			want: "KUBECONFIG='/my clone/a' kubectl -n informer-x",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := fakeSession(t, fits, test.inPath)
			s.kubeconfig, s.context = test.kubeconfig, test.context
			must.NoError(t, s.FindKubectl(t.Context()))
			root, err := os.Getwd()
			must.NoError(t, err)
			want := strings.ReplaceAll(test.want, "ROOT", root)
			if got := s.KubectlCommand(); got != want {
				t.Errorf("KubectlCommand() = %s\nwant %s", got, want)
			}
		})
	}
}

// File copies a file of a chapter, for a command in another terminal.
func TestFile(t *testing.T) {
	s := fakeSession(t, fakeKubectl("v1.37.0", "v1.37.0", ""), "")
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
	s := fakeSession(t, fakeKubectl("v1.37.0", "v1.37.0", `echo "$@" $KUBECONFIG $KUBERC; cat -- *.yaml`), "")
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
	s := fakeSession(t, fakeKubectl("v1.37.0", "v1.37.0", "exec 3>fifo; sleep 1000 & echo >&3; sleep 1000"), "")
	t.Setenv("PATH", "/bin:/usr/bin")
	must.NoError(t, s.FindKubectl(t.Context()))
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
