// Command faults lets our informer and client-go's go through faults at random,
// side by side on a throw-away control plane, until its time is up, and prints
// what came of it.
//
//	go run ./scripts/faults [-duration TIME] [-seed N] [-rate N] [-only REGEXP] [-o FILE]
package main

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"time"

	"example.com/informer/scripts/bench/tool"
	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/catalog"
)

var program = tool.Tool[options]{Name: "faults", Flags: flags, Measure: soak}

func main() { program.Main() }

type options struct {
	duration time.Duration
	seed     uint64
	rate     int
	faults   []bout.Fault
	file     string // for the table; empty: none
}

func flags(all *flag.FlagSet) func() (options, error) {
	var o options
	all.DurationVar(&o.duration, "duration", 30*time.Minute, "begin no fault after this `time`")
	all.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "decides the order of the faults and how long they last, not the moments; printed")
	all.IntVar(&o.rate, "rate", 300, "changes a `second`")
	only := all.String("only", "", "run only the faults whose names match this `regexp`")
	all.StringVar(&o.file, "o", "", "`file` to write the table to, besides printing it")
	return func() (options, error) {
		if o.rate < 1 {
			return o, errors.New("-rate: there must be changes, or nothing can be lost")
		}
		return o, o.choose(*only)
	}
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
