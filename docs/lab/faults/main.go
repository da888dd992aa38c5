// Command faults runs client-go's informer and ours through faults at random, side
// by side on a throw-away control plane, until its time is up, and prints a table
// of the results.
//
//	go run ./docs/lab/faults [-duration TIME] [-seed N] [-rate N] [-only REGEXP] [-o FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"

	"example.com/informer/docs/lab/faults/catalog"
	"example.com/informer/docs/lab/faults/scenario"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	o, err := parse(os.Args[1:])
	if err == nil {
		err = soak(ctx, o, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

type options struct {
	duration time.Duration
	seed     uint64
	rate     int
	faults   []scenario.Fault
	file     string // for the table; empty: it is only printed
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("faults", flag.ExitOnError)
	flags.DurationVar(&o.duration, "duration", 30*time.Minute, "begin no fault after this `time`")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()),
		"decides the order of the faults and how long they last, not the moments; printed")
	flags.IntVar(&o.rate, "rate", 300, "changes a `second`")
	only := flags.String("only", "", "run only the faults whose names match this `regexp`")
	flags.StringVar(&o.file, "o", "", "`file` to write the table to, besides printing it")
	flags.Parse(args)
	if o.rate < 1 {
		return o, errors.New("-rate: there must be changes, or nothing can be lost")
	}
	return o, o.choose(*only)
}

// choose keeps the faults whose names match.
func (o *options) choose(only string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	o.faults = slices.DeleteFunc(catalog.All(), func(f scenario.Fault) bool { return !pattern.MatchString(f.Name) })
	if len(o.faults) == 0 {
		return fmt.Errorf("-only %s: no fault has such a name", only)
	}
	return nil
}
