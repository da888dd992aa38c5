// Which kubectl there is, and its end; with shell scripts in its place.

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// fakeSession is a session in a workspace of its own, with scripts for kubectl:
// one in .cluster/bin, and one in PATH. Those that are "" are not there.
func fakeSession(t *testing.T, own, inPath string) *Session {
	t.Helper()
	root := t.TempDir()
	bin := filepath.Join(root, "bin")
	must.Do(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	for dir, script := range map[string]string{filepath.Join(root, ".cluster", "bin"): own, bin: inPath} {
		must.Do(t, os.MkdirAll(dir, 0o755))
		if script != "" {
			must.Do(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!/bin/sh\n"+script), 0o755))
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

// says is a script that says which version it is, before more of it.
func says(client, server, more string) string {
	return fmt.Sprintf(`if [ "$1" = version ]; then
	echo '{"clientVersion":{"gitVersion":"%s"},"serverVersion":{"gitVersion":"%s"}}'
	exit
fi
%s`, client, server, more)
}

func TestWhichKubectl(t *testing.T) {
	const server = "v1.37.1"
	script := func(client, name string) string { return says(client, server, "echo "+name) }
	for _, test := range []struct{ name, own, inPath, want string }{
		{"that of PATH", script("v1.37.0", "own"), script("v1.36.9-dispatcher", "PATH"), "PATH"},
		{"one in PATH that does not fit", script("v1.37.0", "own"), script("v1.35.7", "PATH"), "own"},
		{"none in PATH", script("v1.39.0", "own"), "", "own"},
		{"one in PATH that is something else", script("v1.37.0", "own"), "echo coffee", "own"},
		{"none that fits", "", script("v1.35.7", "PATH"), "bin/kubectl is v1.35.7, more than one minor " +
			"version from the server's v1.37.1: go run ./scripts/cluster prepare puts one into .cluster/bin"},
		{"none", "", "", "there is no kubectl: go run ./scripts/cluster prepare"},
		{"no server", "", "echo 'no route' >&2; exit 1", "no route"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, err := fakeSession(t, test.own, test.inPath).Kubectl(t.Context(), nil, "get")
			got := fmt.Sprint(lines, err)
			expect.That(t, strings.Contains(got, test.want), "got %s, want %s", got, test.want)
		})
	}
}

// What a user can paste into another terminal, wherever that is: a kubectl that is there, and
// quotes around what a shell would cut.
func TestKubectlCommand(t *testing.T) {
	fits := says("v1.37.0", "v1.37.0", "")
	for _, test := range []struct{ name, own, inPath, kubeconfig, context, want string }{
		{"that of PATH", fits, fits, "/a:/b", "", "KUBECONFIG=/a:/b kubectl -n informer-x"},
		{"none in PATH", fits, "", "/a", "", "KUBECONFIG=/a ROOT/.cluster/bin/kubectl -n informer-x"},
		{"one in PATH that does not fit", fits, says("v1.35.7", "v1.37.0", ""), "/a", "",
			"KUBECONFIG=/a ROOT/.cluster/bin/kubectl -n informer-x"},
		{"a context", fits, fits, "/a", "kind-it's (mine)",
			`KUBECONFIG=/a kubectl --context 'kind-it'\''s (mine)' -n informer-x`},
		{"a path with a space", fits, fits, "/my clone/a", "", "KUBECONFIG='/my clone/a' kubectl -n informer-x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := fakeSession(t, test.own, test.inPath)
			s.kubeconfig, s.context = test.kubeconfig, test.context
			must.Do(t, s.FindKubectl(t.Context()))
			root, err := os.Getwd()
			must.Do(t, err)
			got, want := s.KubectlCommand(), strings.ReplaceAll(test.want, "ROOT", root)
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// The file of a chapter, for a command in another terminal.
func TestFile(t *testing.T) {
	s := fakeSession(t, says("v1.37.0", "v1.37.0", ""), "")
	files := fstest.MapFS{"testdata/a.yaml": {Data: []byte("name: NAMESPACE\n")}}
	file, err := s.File(files, "a.yaml")
	must.Do(t, err)
	text, err := os.ReadFile(file)
	if !filepath.IsAbs(file) || string(text) != "name: informer-x\n" {
		t.Errorf("%s has %q (error: %v), want an absolute path, and the namespace in the file", file, text, err)
	}
	if _, err := s.File(files, "b.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: got %v, want %v", err, os.ErrNotExist)
	}
}

// What it is called with, and where; with a file of the chapter's beside it.
func TestHowKubectlIsCalled(t *testing.T) {
	s := fakeSession(t, says("v1.37.0", "v1.37.0", `echo "$@" $KUBECONFIG $KUBERC; cat -- *.yaml`), "")
	t.Setenv("PATH", "/bin:/usr/bin")
	s.kubeconfig, s.context = "/a:/b", "here"
	files := fstest.MapFS{"testdata/a.yaml": {Data: []byte("name: NAMESPACE\n")}}
	lines, err := s.Kubectl(t.Context(), files, "get", "-f", "a.yaml")
	root, _ := os.Getwd()
	want := "[get --context=here --namespace=informer-x --cache-dir=" + root + "/.cluster/cache -f a.yaml /a:/b off" +
		" name: informer-x]"
	got := fmt.Sprint(lines)
	expect.That(t, err == nil && got == want, "got  %s, %v\nwant %s", got, err, want)
	dir := s.dir
	must.Do(t, s.removeFiles(t.Context()))
	_, err = os.Stat(dir)
	expect.That(t, errors.Is(err, os.ErrNotExist), "the folder %s is still there", dir)
}

// The end of the context ends what kubectl has started as well.
func TestCtrlCKillsKubectl(t *testing.T) {
	s := fakeSession(t, says("v1.37.0", "v1.37.0", "exec 3>fifo; sleep 1000 & echo >&3; sleep 1000"), "")
	t.Setenv("PATH", "/bin:/usr/bin")
	must.Do(t, s.FindKubectl(t.Context()))
	fifo := filepath.Join(s.dir, "fifo")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	ctx, ctrlC := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Kubectl(ctx, nil, "wait")
		ended <- err
	}()
	held, err := os.Open(fifo)
	must.Do(t, err)
	defer held.Close()
	_, err = held.Read(make([]byte, 1)) // both run
	must.Do(t, err)
	ctrlC()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_, err = io.ReadAll(held) // until nobody holds the other end
	must.Do(t, err)
}
