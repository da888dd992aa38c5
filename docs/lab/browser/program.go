// The program that serves the page: the step xray of a chapter.

package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"example.com/informer/scripts/harness/workspace"
)

// Build builds the program of a chapter, such as 07-shared-informer, and returns its path.
func Build(ctx context.Context, dir, chapter string) (program string, err error) {
	root, err := workspace.Root(".")
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, chapter)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./"+chapter)
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", chapter, err, output)
	}
	return program, nil
}

var address = regexp.MustCompile(`http://[\w.]+:\d+`)

// A Program is the step xray of a chapter, which serves the page.
type Program struct {
	URL     string // of the page
	command *exec.Cmd
	read    chan error // gets an element when the program has closed its output
}

// Start starts the step xray on a host and port, and returns when it serves the page. The caller
// stops it.
func Start(ctx context.Context, program, addr string) (*Program, error) {
	command := exec.CommandContext(ctx, program, "xray", "-follow", "-addr", addr)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(output)
	url := ""
	for url == "" && lines.Scan() {
		url = address.FindString(lines.Text())
	}
	if url == "" {
		return nil, errors.Join(errors.New("the step has ended without serving anything"), command.Wait())
	}
	p := &Program{URL: url + "/xray", command: command, read: make(chan error, 1)}
	go func() {
		for lines.Scan() {
		}
		p.read <- lines.Err()
	}()
	return p, nil
}

// Stop stops the program as Ctrl-C does, and waits for its end.
func (p *Program) Stop() error {
	return errors.Join(p.command.Process.Signal(os.Interrupt), <-p.read, p.command.Wait())
}
