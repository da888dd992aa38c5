// Command faults lets our informer and client-go's go through faults at random,
// side by side on a throw-away control plane, until its time is up, and prints
// what came of it.
//
//	go run ./scripts/faults [-duration TIME] [-seed N] [-rate N] [-only REGEXP] [-o FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"

	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/catalog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 1 when our informer did something wrong, or
// something could not be done, 2 on wrong usage, 130 when ctx was ended.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	err = soak(ctx, o, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "faults: stopped before the time was up, nothing was written")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "faults:", err)
		return 1
	}
	return 0
}

type options struct {
	duration time.Duration
	seed     uint64
	rate     int
	faults   []bout.Fault
	file     string // for the table; empty: none
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&o.duration, "duration", 30*time.Minute, "begin no fault after this `time`")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "decides which faults happen when; printed, so that a run can be repeated")
	flags.IntVar(&o.rate, "rate", 300, "changes a `second`")
	only := flags.String("only", "", "run only the faults whose names match this `regexp`")
	flags.StringVar(&o.file, "o", "", "`file` to write the table to, besides printing it")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	err := o.choose(*only)
	switch {
	case flags.NArg() > 0:
		err = errors.New("faults takes no arguments")
	case o.rate < 1:
		err = errors.New("-rate: there must be changes, or nothing can be lost")
	}
	if err != nil {
		fmt.Fprintf(stderr, "faults: %v (-h lists the flags)\n", err)
	}
	return o, err
}

// choose takes the faults with names that match.
func (o *options) choose(only string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	o.faults = slices.DeleteFunc(catalog.All(), func(f bout.Fault) bool { return !pattern.MatchString(f.Name) })
	if len(o.faults) == 0 {
		return fmt.Errorf("-only %s: no fault is called so", only)
	}
	return nil
}
