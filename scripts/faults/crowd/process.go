// A chapter's server, as a reader starts it: the program, in a process of its
// own, with -follow.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// build makes the program of a chapter, from the folder of that name in the
// workspace.
func build(ctx context.Context, root, chapter, to string) (program string, err error) {
	program = filepath.Join(to, chapter)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	cmd.Dir = filepath.Join(root, chapter)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", chapter, err, lastLine(said))
	}
	return program, nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// A server is a chapter's process.
type server struct {
	name           string
	url, namespace string // what it serves, and where
	cmd            *exec.Cmd
	said           screen
	complained     tail
	ended          chan struct{} // closed when err is final
	err            error
}

// startTimeout is how long a server may take to say where it is.
const startTimeout = time.Minute

// serve starts a program, and returns when it serves. It ends with stop, or
// (on Linux) with this program, however that ends.
func serve(ctx context.Context, program, kubeconfig string) (*server, error) {
	s := &server{name: filepath.Base(program), said: screen{ready: make(chan struct{})}, ended: make(chan struct{})}
	s.cmd = exec.Command(program, "-follow", "-addr", "127.0.0.1:0")
	s.cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	s.cmd.Dir = filepath.Dir(program)
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.complained
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in the terminal is for us alone
	dieWithParent(s.cmd.SysProcAttr)
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.name, err)
	}
	late := time.NewTimer(startTimeout)
	defer late.Stop()
	var err error
	select {
	case <-s.said.ready:
		s.url, s.namespace = s.said.url, s.said.namespace
		return s, nil
	case <-s.ended:
		return nil, fmt.Errorf("%s ended before it served: %v: %s", s.name, s.cmd.ProcessState, lastLine(s.complained.text))
	case <-late.C:
		err = fmt.Errorf("%s does not say where it serves, after %v", s.name, startTimeout)
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, errors.Join(err, s.stop())
}

// start begins the process on a thread of its own, which stays: Linux takes the
// thread that started a process for its parent.
func (s *server) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.err = s.cmd.Wait()
			close(s.ended)
		}
	}()
	return <-started
}

// stopTimeout is how long a server may take to clean up.
const stopTimeout = 20 * time.Second

// stop ends a server as Ctrl-C does, and returns when it has ended.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
		_ = s.cmd.Process.Kill()
		<-s.ended
		return fmt.Errorf("%s did not end after %v, and was killed", s.name, stopTimeout)
	}
	if s.err != nil && s.cmd.ProcessState.ExitCode() != interrupted {
		return fmt.Errorf("%s ended: %w: %s", s.name, s.err, lastLine(s.complained.text))
	}
	return nil
}

// interrupted is the exit code after Ctrl-C, a chapter's and ours.
const interrupted = 130

// A screen is where a server says where it serves; what comes later is not kept.
type screen struct {
	text           bytes.Buffer
	ready          chan struct{} // closed when the others are known
	url, namespace string
}

var (
	isURL       = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	isNamespace = regexp.MustCompile(`kubectl .* -n (informer-\S+) `)
)

func (s *screen) Write(p []byte) (int, error) {
	if s.url != "" {
		return len(p), nil
	}
	s.text.Write(p)
	url, namespace := isURL.Find(s.text.Bytes()), isNamespace.FindSubmatch(s.text.Bytes())
	if url != nil && namespace != nil {
		s.url, s.namespace = string(url), string(namespace[1])
		s.text = bytes.Buffer{}
		close(s.ready)
	}
	return len(p), nil
}

// A tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-1000):]
	return len(p), nil
}
