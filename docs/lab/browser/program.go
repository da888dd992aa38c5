// The programs that serve the pages: X-ray, and the reading room.

package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"time"

	"example.com/informer/scripts/harness/workspace"
)

// Build builds a program of the workspace, such as docs/xray, and returns its path.
func Build(ctx context.Context, dir, folder string) (program string, err error) {
	root, err := workspace.Root(".")
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, path.Base(folder))
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./"+folder)
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", folder, err, output)
	}
	return program, nil
}

var address = regexp.MustCompile(`http://[\w.]+:\d+(/\?token=\w+)?`)

// A Program serves a page.
type Program struct {
	URL     string // of the page
	command *exec.Cmd
}

// Start starts X-ray on a host and port, and returns when it serves the page. The caller
// stops it.
func Start(ctx context.Context, program, addr string) (*Program, error) {
	p, err := start(exec.CommandContext(ctx, program, "xray", "-follow", "-addr", addr))
	if err != nil {
		return nil, err
	}
	p.URL += "/xray"
	return p, nil
}

// StartReader starts the reading room in a folder, and returns when it serves the book. The URL has
// the token in it. The caller stops it.
func StartReader(ctx context.Context, program, folder string) (*Program, error) {
	command := exec.CommandContext(ctx, program, "-no-browser")
	command.Dir = folder
	return start(command)
}

// start starts a program, and returns when it has printed its address.
func start(command *exec.Cmd) (*Program, error) {
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	hang := time.AfterFunc(hangTime, func() { _ = command.Process.Kill() })
	defer hang.Stop()
	lines := bufio.NewScanner(output)
	url := ""
	for url == "" && lines.Scan() {
		url = address.FindString(lines.Text())
	}
	if url == "" {
		return nil, errors.Join(errors.New("the program has ended without serving anything"), command.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, output) }() // until Stop closes it
	return &Program{url, command}, nil
}

// Stop stops the program as Ctrl-C does, and waits for its end.
func (p *Program) Stop() error {
	hang := time.AfterFunc(hangTime, func() { _ = p.command.Process.Kill() })
	defer hang.Stop()
	return errors.Join(p.command.Process.Signal(os.Interrupt), p.command.Wait())
}
