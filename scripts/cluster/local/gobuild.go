// Running go build, with a line now and then on how far it is.

package local

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
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

	downloaded, built, total int
	last                     []string // lines of output
	onLine                   func(string)
}

func (b *builder) elapsed() time.Duration { return time.Since(b.start).Round(time.Second) }

// run runs go in a process group of its own, so that its compilers end with it
// when ctx does. what says in progress lines what it is about.
func (b *builder) run(ctx context.Context, what string, onLine func(string), args ...string) error {
	b.onLine, b.last = onLine, nil
	output, written := io.Pipe()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stdout, cmd.Stderr = written, written
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = cancelGrace

	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Run()
		written.Close()
	}()
	b.follow(what, output)
	err := <-ended
	if ctx.Err() != nil {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what did not heed the interrupt
		}
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("go %s in %s: %w; its last lines:\n  %s",
			args[0], b.source, err, strings.Join(b.last, "\n  "))
	}
	return nil
}

// follow reads the output of go to its end, and writes a progress line every now
// and then.
func (b *builder) follow(what string, output io.Reader) {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for r := bufio.NewReader(output); ; {
			line, err := r.ReadString('\n')
			lines <- strings.TrimSpace(line)
			if err != nil {
				return
			}
		}
	}()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case line, more := <-lines:
			if !more {
				return
			}
			b.line(line)
		case <-tick.C:
			fmt.Fprintf(b.progress, "  %s: %s%s\n", what, b.elapsed(), b.howFar())
		}
	}
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

// line takes a line of go's output and counts.
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
