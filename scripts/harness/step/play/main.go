// A chapter as a program: Main, its signals and its exit codes.

package play

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit codes of a chapter.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Main runs the chapter as the command line asks, and exits. The exit code is 0 when all went well,
// 1 when a step failed or did not do what its transcript says, 2 when the command line is wrong,
// and 130 on Ctrl-C. The first Ctrl-C, or the end of the terminal, ends the context of the steps. A
// second Ctrl-C ends the program immediately.
func Main(c Chapter) {
	signal.Ignore(syscall.SIGPIPE) // a step cleans up even if nobody reads its output any more
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	os.Exit(c.run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is Main with arguments and streams from the caller. It returns the exit code.
func (c Chapter) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	r := c.newRunner(stdout, stderr)
	names, err := r.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage // the flag package has printed the error
	case r.list && r.update:
		if err := r.writeManifest(); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
			return exitFailed
		}
		return exitOK
	case r.list:
		r.printSteps(stdout)
		return exitOK
	}
	selected, err := r.choose(names)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\nthe steps are: %s\n", c.Name, err, strings.Join(c.StepNames(), ", "))
		return exitUsage
	}
	if r.pause || r.follow {
		r.input = readLines(ctx, stdin)
	}
	passed := 0
	for _, step := range selected {
		err := r.run(ctx, step)
		if ctx.Err() != nil && !r.follow {
			return exitInterrupted
		}
		if err == nil {
			passed++
		}
	}
	if r.check {
		fmt.Fprintf(stdout, "%s: %d of %d steps as expected\n", c.Name, passed, len(selected))
	}
	if passed < len(selected) {
		return exitFailed
	}
	return exitOK
}

// readLines returns a channel with the lines of a reader. The channel is closed when the reader or
// ctx ends. (A read cannot be interrupted; its goroutine is left behind.)
func readLines(ctx context.Context, from io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(from); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
