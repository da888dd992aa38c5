// A program that a check runs: how long it may take, and how much it may print.

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// endless begins what a check prints of a program that did not end by itself.
const endless = "it was ended, because it "

// timedOut is what a test prints that was ended by -test.timeout.
const timedOut = "test timed out"

// isEndless reports whether a program did not end by itself. Another test may not end, either.
func isEndless(failure string) bool {
	return strings.Contains(failure, timedOut) || strings.Contains(failure, endless)
}

// failure returns what a reader needs of the output of a program that has failed.
func (c *checker) failure(text string, err error) string {
	text = summary(c.root, text)
	if isEndless(err.Error()) && text != "" {
		return text + "\n" + err.Error()
	}
	return cmp.Or(text, err.Error())
}

// run runs a program in a folder, and returns its output. It ends a program that hangs, or that
// prints without end, with its children. Meanwhile it says now and then what it is doing.
func (c *checker) run(
	ctx context.Context, longest time.Duration, dir, doing, program string, args ...string,
) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("%sran for more than %v", endless, longest))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	output := &limitedOutput{rest: c.most, full: func() {
		end(fmt.Errorf("%sprinted more than %d KiB", endless, c.most>>10))
	}}
	process := exec.CommandContext(ctx, program, args...)
	process.Dir = dir
	process.Env = os.Environ()
	if program == "go" {
		process.Env = append(process.Env, "GOGC=400") // compiler and linker take more memory, and less time
	}
	process.Stdout, process.Stderr = output, output
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGINT) }
	process.WaitDelay = c.grace
	if err := process.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- process.Wait() }()
	const sayEvery = 5 * time.Second
	for {
		select {
		case err := <-ended:
			_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL) // a child that is left; mostly there is none
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return output.text.String(), err
		case <-time.After(sayEvery):
			fmt.Fprintf(c.out, "        … %s for %s\n", doing, time.Since(begin).Round(time.Second))
		}
	}
}

// A limitedOutput keeps the beginning of what is written to it. It takes the rest, too: a program
// that ends must not wait for somebody who reads.
type limitedOutput struct {
	text bytes.Buffer
	rest int    // bytes that it still keeps
	full func() // called when there are more
}

// Write implements io.Writer.
func (o *limitedOutput) Write(p []byte) (int, error) {
	kept := p[:min(len(p), o.rest)]
	o.text.Write(kept)
	o.rest -= len(kept)
	if len(kept) < len(p) {
		o.full()
	}
	return len(p), nil
}
