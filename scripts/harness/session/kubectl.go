// kubectl, the real one, as a process.

package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"example.com/informer/scripts/harness/quote"
	"example.com/informer/scripts/harness/workspace"
)

// servingTimeout is how long to wait until the server serves a new type.
const servingTimeout = time.Minute

// verbFlags are for verbs that do something else in a transcript than by default.
// A flag of the same name in the command goes before them.
var verbFlags = map[string][]string{"delete": {"--wait=false"}, "wait": {"--timeout=2m"}}

// Kubectl runs kubectl in the session's namespace, and returns the lines that get prints. What other
// verbs print when all goes well ("created") is left out; an error has kubectl's own words, in one
// line. delete does not wait. The file that "-f FILE" names is that in files, below testdata; the word
// NAMESPACE in it stands for the session's namespace, so that it can name what is unique in the whole
// cluster. Close removes what create has made of such a file; what apply has made stays, since others
// may have applied the same.
func (s *Session) Kubectl(ctx context.Context, files fs.FS, verb string, args ...string) ([]string, error) {
	if err := s.FindKubectl(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(args, "-f") + 1; i > 0 && i < len(args) {
		_, err := s.copyFile(files, args[i])
		switch {
		case errors.Is(err, fs.ErrNotExist): // kubectl says what is wrong
		case err != nil:
			return nil, err
		default:
			s.defined = true
			if verb == "create" {
				s.files = append(s.files, "-f", args[i])
			}
		}
	}
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		answer, err := s.runKubectl(ctx, verb, append(verbFlags[verb], args...)...)
		switch {
		case lacksType(err) && s.defined && time.Since(begun) < servingTimeout && ctx.Err() == nil:
			// A file may have defined the type a moment ago.
		case err != nil || verb != "get" || answer == "":
			return nil, err
		default:
			return strings.Split(strings.TrimSuffix(answer, "\n"), "\n"), nil
		}
	}
}

// File returns the path of a copy of a file in files, below testdata, with the session's namespace in
// the place of NAMESPACE. Close removes it.
func (s *Session) File(files fs.FS, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copyFile(files, name)
}

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

// makeDir makes the folder that kubectl runs in, if there is none yet.
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

// KubectlCommand is how to reach this namespace from another terminal, in any folder. It names the
// kubeconfig, since what is set here need not be set there; and the kubectl that FindKubectl has
// found, unless it is the one from PATH.
func (s *Session) KubectlCommand() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	program := "kubectl"
	if inPath, _ := exec.LookPath(program); s.kubectl != "" && s.kubectl != inPath {
		program = quote.Shell(s.kubectl)
	}
	command := "KUBECONFIG=" + quote.Shell(s.kubeconfig) + " " + program
	if s.context != "" {
		command += " --context " + quote.Shell(s.context)
	}
	return command + " -n " + s.Namespace
}

// lacksType is whether the server does not serve the type that a command names.
func lacksType(err error) bool {
	return err != nil && slices.ContainsFunc([]string{"no matches for kind", "doesn't have a resource type",
		"could not find the requested resource"}, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// runKubectl runs kubectl. The end of ctx kills it.
func (s *Session) runKubectl(ctx context.Context, verb string, args ...string) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute+s.patience)
	defer cancel()
	flags := []string{verb, "--context=" + s.context, "--namespace=" + s.Namespace, "--cache-dir=" + s.cache}
	cmd := exec.CommandContext(ctx, s.kubectl, append(flags, args...)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "KUBERC=off") // no defaults of the user's
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                    // a terminal's Ctrl-C is ours to handle
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	switch err := cmd.Run(); {
	case err == nil || ctx.Err() != nil:
		return stdout.String(), ctx.Err()
	case stderr.Len() == 0:
		return "", fmt.Errorf("%s %s: %w", s.kubectl, verb, err)
	default:
		return "", oneLine(errors.New(stderr.String()))
	}
}

// kubectls has the kubectl that was found for a server.
var kubectls sync.Map

// FindKubectl looks for a kubectl: the one from PATH if it is within one minor
// version of the server, else the one that scripts/cluster has put into .cluster/bin.
func (s *Session) FindKubectl(ctx context.Context) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.makeDir(); err != nil {
		return err
	}
	root, err := workspace.Root(".")
	if err != nil {
		root = s.dir // it has none of the two
	}
	s.cache = filepath.Join(root, ".cluster", "cache")
	if found, ok := kubectls.Load(s.Config.Host); ok {
		s.kubectl = found.(string)
		return nil
	}
	misfit := errors.New("there is no kubectl")
	if s.kubectl, err = exec.LookPath("kubectl"); err == nil {
		misfit = s.misfit(ctx)
	}
	if misfit != nil {
		if s.kubectl, err = exec.LookPath(filepath.Join(root, ".cluster", "bin", "kubectl")); err != nil {
			return fmt.Errorf("%w: go run ./scripts/cluster prepare puts one into .cluster/bin", misfit)
		}
	}
	kubectls.Store(s.Config.Host, s.kubectl)
	return nil
}

// misfit says why kubectl and the server do not fit together.
func (s *Session) misfit(ctx context.Context) error {
	text, err := s.runKubectl(ctx, "version", "--output=json")
	if err != nil {
		return err
	}
	var says struct{ ClientVersion, ServerVersion struct{ GitVersion string } }
	_ = json.Unmarshal([]byte(text), &says) // what is no JSON has no versions
	client, _ := version.ParseGeneric(says.ClientVersion.GitVersion)
	server, _ := version.ParseGeneric(says.ServerVersion.GitVersion)
	if client != nil && server != nil && max(client.Minor(), server.Minor())-min(client.Minor(), server.Minor()) <= 1 {
		return nil
	}
	return fmt.Errorf("%s is %s, more than one minor version from the server's %s",
		s.kubectl, says.ClientVersion.GitVersion, says.ServerVersion.GitVersion)
}

// removeFiles removes what was made out of files, as far as it is still there.
// What is in the namespace goes with that anyway.
func (s *Session) removeFiles(ctx context.Context) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer os.RemoveAll(s.dir)
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	if len(s.files) > 0 {
		_, err = s.runKubectl(ctx, "delete", append(s.files, "--ignore-not-found", "--wait=false")...)
	}
	if lacksType(err) {
		return nil // the type is gone, and so is the object
	}
	return err
}
