// Command crowd has 64 clients read the pages of chapters 07 and 08, and the
// same straight from the API server, while objects change hundreds of times a
// second. It judges every answer, and prints how long they took.
//
//	scripts/crowd.sh [-duration 30s] [-objects N] [-rate N] [-o FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	duration      time.Duration
	objects, rate int
	file          string // where the table goes, besides stdout; empty: nowhere
}

// run returns the exit code: 1 when something could not be measured or an
// answer was wrong, 2 on wrong usage, 130 when ctx was ended.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	err = measure(ctx, o, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "crowd: stopped, nothing was written")
		return interrupted
	case err != nil:
		fmt.Fprintln(stderr, "crowd:", err)
		return 1
	}
	return 0
}

func parseOptions(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("crowd", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&o.duration, "duration", 30*time.Second, "how long each source is asked")
	flags.IntVar(&o.objects, "objects", 500, "how many pods there are in each of two namespaces")
	flags.IntVar(&o.rate, "rate", 300, "changes a second, in both together, if the API server keeps up")
	flags.StringVar(&o.file, "o", "", "a `file` for the table, besides printing it")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		err = errors.New("crowd takes no arguments")
	case o.duration <= 0 || o.objects <= 0 || o.rate <= 0:
		err = errors.New("a duration and numbers are positive")
	case o.file != "":
		if _, noFolder := os.Stat(filepath.Dir(o.file)); noFolder != nil { // better now than in two minutes
			err = fmt.Errorf("-o %s: %w", o.file, noFolder)
		}
	}
	if err != nil {
		err = fmt.Errorf("crowd: %w: -h names the flags", err)
		fmt.Fprintln(stderr, err)
	}
	return o, err
}

// measure runs the crowd, prints the table and writes it.
func measure(ctx context.Context, o options, stdout, stderr io.Writer) error {
	out, err := (&crowd{options: o, progress: stderr}).run(ctx)
	if err != nil {
		return err
	}
	text := out.table(time.Now().Format(time.DateOnly))
	fmt.Fprint(stdout, text)
	if o.file != "" {
		if err := os.WriteFile(o.file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if n := out.wrongs(); n > 0 {
		for _, err := range out.errs {
			fmt.Fprintln(stderr, err)
		}
		return fmt.Errorf("%d answers were wrong: see above", n)
	}
	return nil
}
