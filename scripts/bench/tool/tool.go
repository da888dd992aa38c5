// Package tool is the frame of a program that measures something: flags,
// signals, errors and exit codes.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// A Tool takes flags, which become options of type O, and no arguments.
type Tool[O any] struct {
	Name string

	// Flags declares the flags. What it returns is called when they are parsed,
	// and says what is wrong with them.
	Flags func(*flag.FlagSet) func() (O, error)

	// Measure does the work. It prints its table on stdout and its progress on
	// stderr. When ctx ends, it has written no file.
	Measure func(ctx context.Context, o O, stdout, stderr io.Writer) error
}

// Main runs the tool until its end or Ctrl-C, and ends the program.
func (t Tool[O]) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(t.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run returns the exit code: 1 when something could not be measured, 2 on wrong
// usage, 130 when ctx was ended.
func (t Tool[O]) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := t.parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	err = t.Measure(ctx, o, stdout, stderr)
	if err == nil {
		return 0
	}
	if !errors.Is(err, context.Canceled) {
		fmt.Fprintf(stderr, "%s: %v\n", t.Name, err)
	}
	if ctx.Err() != nil {
		fmt.Fprintf(stderr, "%s: stopped, nothing was written\n", t.Name)
		return 130
	}
	return 1
}

// parse also tells stderr what is wrong.
func (t Tool[O]) parse(args []string, stderr io.Writer) (o O, err error) {
	flags := flag.NewFlagSet(t.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	options := t.Flags(flags)
	if err := flags.Parse(args); err != nil {
		return o, err // flag has told
	}
	if flags.NArg() > 0 {
		err = errors.New("it takes flags, and no arguments")
	} else {
		o, err = options()
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v: -h names the flags\n", t.Name, err)
	}
	return o, err
}
