// Running go build, with a line now and then on how far it is.

package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	reportEvery = 10 * time.Second
	cancelGrace = 5 * time.Second // for go to remove its temporary files
	keptLines   = 10              // of output, for an error
)

// goBuild builds the main package in source into the file out. Packages that
// the Go build cache has are not counted: the figures show the work to do.
func goBuild(ctx context.Context, source, out, ldflags string, progress io.Writer) error {
	b := &builder{source: source, progress: progress, start: time.Now()}
	stale := map[string]bool{}
	err := b.run(ctx, "looking at the sources", func(line string) { stale[line] = true },
		"list", "-deps", "-trimpath", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", ".")
	if err != nil {
		return err
	}
	b.total = len(stale)
	err = b.run(ctx, "building", func(line string) {
		if stale[line] {
			b.built++
		}
	}, "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", out, ".")
	if err == nil {
		fmt.Fprintf(progress, "built in %s\n", b.elapsed())
	}
	return err
}

type builder struct {
	source   string
	progress io.Writer
	start    time.Time

	mu                       sync.Mutex // guards the rest while a command runs
	downloaded, built, total int
	last                     []string
	partial                  []byte // of a line
	onLine                   func(string)
}

func (b *builder) elapsed() time.Duration { return time.Since(b.start).Round(time.Second) }

// run runs go in a process group of its own, so that its compilers end with it
// when ctx does. what says in progress lines what it is about.
func (b *builder) run(ctx context.Context, what string, onLine func(string), args ...string) error {
	b.onLine, b.last, b.partial = onLine, nil, nil
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stdout, cmd.Stderr = b, b
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = cancelGrace

	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("run go %s: %w", args[0], err)
	}
	stop := b.report(what)
	err := cmd.Wait()
	stop()
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what did not heed the interrupt
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("go %s in %s: %w; its last lines:\n  %s",
			args[0], b.source, err, strings.Join(b.last, "\n  "))
	}
	return nil
}

// report writes a progress line every now and then until it is stopped.
func (b *builder) report(what string) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				b.mu.Lock()
				fmt.Fprintf(b.progress, "  %s: %s%s\n", what, b.elapsed(), b.howFar())
				b.mu.Unlock()
			}
		}
	}()
	return func() { close(done); <-stopped }
}

func (b *builder) howFar() string {
	switch {
	case b.built > 0 && b.built == b.total:
		return ", linking"
	case b.total > 0:
		return fmt.Sprintf(", %d of %d packages", b.built, b.total)
	case b.downloaded > 0:
		return fmt.Sprintf(", %d modules downloaded", b.downloaded)
	}
	return ""
}

// Write takes the output of go and counts.
func (b *builder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.partial = append(b.partial, p...)
	for {
		line, rest, found := bytes.Cut(b.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		b.partial = rest
		b.line(strings.TrimSpace(string(line)))
	}
}

func (b *builder) line(line string) {
	switch {
	case line == "":
	case strings.HasPrefix(line, "go: downloading "):
		b.downloaded++
	default:
		b.onLine(line)
		b.last = append(b.last, line)
		b.last = b.last[max(0, len(b.last)-keptLines):]
	}
}
