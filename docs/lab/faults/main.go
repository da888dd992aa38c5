// Command faults runs client-go's informer and ours through faults at random, side
// by side on a throw-away control plane, until its time is up, and prints a table
// of the results.
//
//	go run ./docs/lab/faults [-duration TIME] [-seed N] [-only REGEXP] > docs/lab/faults/soak.txt
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"
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
	faults   []fault
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("faults", flag.ExitOnError)
	flags.DurationVar(&o.duration, "duration", 30*time.Minute, "begin no fault after this `time`")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()),
		"decides the order of the faults and how long they last, not the moments; printed")
	only := flags.String("only", "", "run only the faults whose names match this `regexp`")
	flags.Parse(args)
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	o.faults = slices.DeleteFunc(allFaults(), func(f fault) bool { return !pattern.MatchString(f.name) })
	if len(o.faults) == 0 {
		return o, fmt.Errorf("-only %s: no fault has such a name", *only)
	}
	return o, nil
}
