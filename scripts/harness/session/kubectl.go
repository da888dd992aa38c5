// Running the real kubectl, in another process.

package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/informer/scripts/harness/quote"
	"example.com/informer/scripts/harness/workspace"
)

const (
	servingTimeout = time.Minute // until the server serves a new type
	servingPoll    = 100 * time.Millisecond
)

// verbFlags are flags for verbs that do something else in a transcript than by default. The same
// flag in the command has priority.
var verbFlags = map[string][]string{"delete": {"--wait=false"}, "wait": {"--timeout=2m"}}

// FindKubectl looks for a kubectl. It takes the one that scripts/cluster has put into .cluster/bin,
// which fits the clusters that are made there, or else the one from PATH.
func (s *Session) FindKubectl() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.makeDir(); err != nil {
		return err
	}
	root, err := workspace.Clone(".")
	if err != nil {
		root = s.dir // outside of a workspace: a folder without .cluster
	}
	s.cacheDir = filepath.Join(root, ".cluster", "cache")
	s.kubectl, err = exec.LookPath(filepath.Join(root, ".cluster", "bin", "kubectl"))
	if err != nil {
		s.kubectl, err = exec.LookPath("kubectl")
	}
	if err != nil {
		return errors.New("there is no kubectl: go run ./scripts/cluster prepare puts one into .cluster/bin")
	}
	return nil
}

// Kubectl runs kubectl in the session's namespace. It returns the lines that "kubectl get" prints.
// Other verbs print only that they have succeeded ("created"), and so Kubectl returns no lines for
// them. An error has kubectl's own words, in one line. "kubectl delete" does not wait.
//
// The argument "-f FILE" names a file of files, below testdata. The word NAMESPACE in it stands for
// the session's namespace, so that the file can define an object whose name is unique in the
// cluster. Close removes the objects that "create" has made from such a file. The objects that
// "apply" has made stay, because others may have applied the same file. If the file defines a type,
// Kubectl returns when the server serves that type.
func (s *Session) Kubectl(ctx context.Context, files fs.FS, verb string, args ...string) ([]string, error) {
	if err := s.FindKubectl(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(args, "-f") + 1; i > 0 && i < len(args) {
		if err := s.prepareFile(files, verb, args[i]); err != nil {
			return nil, err
		}
	}
	answer, err := s.runUntilServed(ctx, verb, append(verbFlags[verb], args...))
	if err == nil && (verb == "create" || verb == "apply") {
		err = s.awaitDefined(ctx, args)
	}
	if err != nil || verb != "get" || answer == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(answer, "\n"), "\n"), nil
}

// prepareFile copies a file for kubectl, if it exists. If the verb is create, Close will remove its
// objects. The caller holds mu.
func (s *Session) prepareFile(files fs.FS, verb, name string) error {
	_, err := s.copyFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // kubectl will say what is wrong
	}
	if err != nil {
		return err
	}
	s.hasReadFile = true
	if verb == "create" {
		s.fileFlags = append(s.fileFlags, "-f", name)
	}
	return nil
}

// runUntilServed runs kubectl. It tries again while the server does not serve a type that a file
// has just defined. The caller holds mu.
func (s *Session) runUntilServed(ctx context.Context, verb string, args []string) (answer string, err error) {
	deadline := time.Now().Add(servingTimeout)
	for {
		answer, err := s.runKubectl(ctx, verb, args...)
		if !lacksType(err) || !s.hasReadFile || time.Now().After(deadline) || ctx.Err() != nil {
			return answer, err
		}
		time.Sleep(servingPoll)
	}
}

// File copies a file of files, below testdata, and returns the path of the copy. The copy has the
// session's namespace in the place of NAMESPACE. Close removes the copy.
func (s *Session) File(files fs.FS, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copyFile(files, name)
}

// copyFile is File. The caller holds mu.
func (s *Session) copyFile(files fs.FS, name string) (string, error) {
	text, err := fs.ReadFile(files, path.Join("testdata", name))
	if err != nil {
		return "", err
	}
	if err := s.makeDir(); err != nil {
		return "", err
	}
	file := filepath.Join(s.dir, name)
	text = bytes.ReplaceAll(text, []byte("NAMESPACE"), []byte(s.Namespace))
	return file, os.WriteFile(file, text, 0o600)
}

// makeDir makes the folder that kubectl runs in, if there is none yet. The caller holds mu.
func (s *Session) makeDir() error {
	if s.dir != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "informer-kubectl-")
	if err != nil {
		return err
	}
	s.dir, err = filepath.Abs(dir)
	return err
}

// KubectlCommand returns a command that reaches this namespace from another terminal, in any
// folder. It names the kubeconfig, because the other terminal may have another environment. It
// names the path of the kubectl that FindKubectl has found, unless that is the kubectl from PATH.
func (s *Session) KubectlCommand() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	program := "kubectl"
	found, _ := os.Stat(s.kubectl) // nil if there is none
	inPath, _ := exec.LookPath(program)
	users, _ := os.Stat(inPath)
	if found != nil && (users == nil || !os.SameFile(found, users)) {
		program = quote.Shell(s.kubectl)
	}
	command := "KUBECONFIG=" + quote.Shell(s.kubeconfig) + " " + program
	if s.context != "" {
		command += " --context " + quote.Shell(s.context)
	}
	return command + " -n " + s.Namespace
}

// unknownType are the texts of kubectl's errors for a type that the server does not serve.
var unknownType = []string{
	"no matches for kind",
	"doesn't have a resource type",
	"could not find the requested resource",
}

// lacksType reports whether an error of kubectl says that the server does not serve a type.
func lacksType(err error) bool {
	return err != nil &&
		slices.ContainsFunc(unknownType, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// runKubectl runs kubectl. The end of ctx kills it. The caller holds mu.
func (s *Session) runKubectl(ctx context.Context, verb string, args ...string) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute+s.patience)
	defer cancel()
	flags := []string{verb, "--context=" + s.context, "--namespace=" + s.Namespace, "--cache-dir=" + s.cacheDir}
	cmd := exec.CommandContext(ctx, s.kubectl, append(flags, args...)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "KUBERC=off") // without the user's defaults
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                    // Ctrl-C does not reach it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return stdout.String(), ctx.Err()
	case err == nil:
		return stdout.String(), nil
	case stderr.Len() == 0:
		return "", fmt.Errorf("%s %s: %w", s.kubectl, verb, err)
	default:
		return "", oneLine(errors.New(stderr.String()))
	}
}

// removeFiles deletes the objects that were created from files, if they still exist, and removes
// the copies of the files. (The objects in the namespace go with the namespace in any case.)
func (s *Session) removeFiles(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer os.RemoveAll(s.dir)
	if len(s.fileFlags) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	_, err := s.runKubectl(ctx, "delete", append(s.fileFlags, "--ignore-not-found", "--wait=false")...)
	if lacksType(err) {
		return nil // the type is gone, and so are its objects
	}
	return err
}
