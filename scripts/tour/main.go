// Command tour walks through the course: it runs every chapter in order, shows
// what each step prints, and compares it with what the book shows. It gets a
// cluster by itself, and removes what it made.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"example.com/informer/01-deltafifo/workspace"
	cluster "example.com/informer/scripts/cluster/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	err := walk(ctx, os.Stdout, os.Stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "tour: stopped")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "tour:", err)
		os.Exit(1)
	}
}

// walk runs the first chapter, which needs no cluster, while one is being made.
func walk(ctx context.Context, stdout, stderr io.Writer) (err error) {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	chapters, err := filepath.Glob(filepath.Join(root, "[0-9][0-9]-*"))
	if err != nil || len(chapters) == 0 {
		return errors.Join(errors.New("no chapters in "+root), err)
	}
	progress := &held{out: stderr}
	fmt.Fprintln(progress, "getting a cluster")
	made := make(chan result, 1)
	go func() {
		use, err := cluster.Begin(ctx, root, progress)
		made <- result{use, err}
	}()

	as := tally{stdout: stdout, stderr: stderr}
	as.run(ctx, chapters[0], nil)
	progress.release()
	c := <-made
	if c.err != nil {
		return c.err
	}
	defer func() { err = errors.Join(err, c.Done(context.WithoutCancel(ctx), stderr)) }()
	for _, chapter := range chapters[1:] {
		as.run(ctx, chapter, []string{"KUBECONFIG=" + c.Kubeconfig})
	}
	return as.sum(len(chapters))
}

// result is what getting a cluster came to.
type result struct {
	*cluster.Use
	err error
}

// tally runs chapters and remembers which ones did not print what they should.
type tally struct {
	stdout, stderr io.Writer
	failed         []string
}

func (t *tally) run(ctx context.Context, chapter string, env []string) {
	if ctx.Err() != nil {
		return
	}
	cmd := exec.CommandContext(ctx, "go", "run", ".", "-check")
	cmd.Dir = chapter
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = t.stdout, t.stderr
	// go run does not pass signals on; its group gets the interrupt instead.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		t.failed = append(t.failed, filepath.Base(chapter))
	}
}

// sum prints the last line, or returns it as an error.
func (t *tally) sum(chapters int) error {
	if len(t.failed) > 0 {
		return fmt.Errorf("not as expected: %v (%d of %d chapters)", t.failed, len(t.failed), chapters)
	}
	fmt.Fprintf(t.stdout, "\ntour: %d of %d chapters as expected\n", chapters, chapters)
	return nil
}
