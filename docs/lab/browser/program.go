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

// Build builds a chapter, such as 07-shared-informer, and returns the program.
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

// A Program is the step xray, which serves the page.
type Program struct {
	URL     string // of the page
	command *exec.Cmd
	read    chan error // gets one element when all output is read
}

// Start starts the step on a host and port, and returns when it serves.
func Start(ctx context.Context, program, addr string) (*Program, error) {
	command := exec.CommandContext(ctx, program, "xray", "-follow", "-addr", addr)
	p := &Program{command: command, read: make(chan error, 1)}
	p.command.Stderr = os.Stderr
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(output)
	for p.URL == "" && lines.Scan() {
		p.URL = address.FindString(lines.Text())
	}
	if p.URL == "" {
		return nil, errors.Join(errors.New("the step has ended without serving anything"), p.command.Wait())
	}
	p.URL += "/xray"
	go func() {
		for lines.Scan() {
		}
		p.read <- lines.Err()
	}()
	return p, nil
}

// Stop ends the program with Ctrl-C.
func (p *Program) Stop() error {
	return errors.Join(p.command.Process.Signal(os.Interrupt), <-p.read, p.command.Wait())
}
