// Running the plan.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
)

// A plan is what is measured.
type plan struct {
	sizes    []int // how many ConfigMaps, growing
	handlers int
	rounds   int           // how often each syncs with each number of objects
	rate     int           // changes a second
	slices   int           // in how many parts the time of changes is measured
	slice    time.Duration // how long each is
}

// fullPlan takes about five minutes on two cores. Its rate leaves them idle for
// nearly half of the time, though the API server, etcd, the writers of changes
// and both factories share them: what is measured is not who gets a core.
var fullPlan = plan{
	sizes: []int{1000, 10_000, 50_000}, handlers: 10, rounds: 5, rate: 200, slices: 6, slice: 10 * time.Second,
}

// quickPlan takes seconds, and shows only that everything works.
var quickPlan = plan{
	sizes: []int{100, 300}, handlers: 10, rounds: 2, rate: 50, slices: 2, slice: time.Second,
}

// A run is a plan being measured.
type run struct {
	plan
	server   *server
	progress io.Writer
	results  strings.Builder
}

func measure(ctx context.Context, quick bool, progress io.Writer) (results string, err error) {
	r := &run{plan: fullPlan, progress: progress}
	if quick {
		r.plan = quickPlan
	}
	machine, err := report.Machine()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&r.results, `machine: %s
load: ConfigMaps of 1 KiB over protobuf from one API server; %d handlers; each factory in a process of its own
objects: %s
sync: %d rounds, one after the other, taking turns
changes: both at the same time, measured in %d slices of %v
`, machine, r.handlers, strings.Trim(fmt.Sprint(r.sizes), "[]"), r.rounds, r.slices, r.slice)
	dir, err := os.MkdirTemp("", "load-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the control plane: %w", err)
	}
	defer os.RemoveAll(dir)
	plane, err := local.Start(ctx, local.Options{Dir: dir, Options: binaries.Options{Progress: progress},
		Disable: []string{local.ControllerManager, local.Scheduler, local.Node}})
	if err != nil {
		return "", fmt.Errorf("starting a control plane: %w", err)
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if r.server, err = newServer(ctx, plane.Kubeconfig()); err != nil {
		return "", err
	}
	for _, objects := range r.sizes {
		r.say("creating %d ConfigMaps", objects-r.server.filled)
		if err := r.server.fill(ctx, objects); err != nil {
			return "", fmt.Errorf("creating ConfigMaps: %w", err)
		}
		if err := r.measureSize(ctx); err != nil {
			return "", err
		}
	}
	return r.results.String(), nil
}

func (r *run) say(format string, args ...any) { fmt.Fprintf(r.progress, format+"\n", args...) }

// note adds a line to the results.
func (r *run) note(bench, of string, values Values) {
	fmt.Fprintf(&r.results, "Benchmark%s/objects=%d%s 1", bench, r.server.filled, of)
	for _, unit := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&r.results, " %s %s", strconv.FormatFloat(values[unit], 'f', -1, 64), unit)
	}
	r.results.WriteByte('\n')
}

// measureSize lets both sync in each round, one after the other, so that they do
// not compete; they take turns in being first. Those of the last round stay for
// the changes, which both see at the same time.
func (r *run) measureSize(ctx context.Context) (err error) {
	order := []string{report.Theirs, report.Ours}
	var stay []*process
	defer func() {
		for _, p := range stay {
			err = errors.Join(err, p.Close())
		}
	}()
	for round := range r.rounds {
		r.say("%d ConfigMaps: sync, round %d of %d", r.server.filled, round+1, r.rounds)
		for _, name := range order {
			p, err := startProcess(ctx, name)
			if err != nil {
				return err
			}
			err = r.sync(p)
			if err == nil && round == r.rounds-1 {
				stay = append(stay, p)
				continue
			}
			if err := errors.Join(err, p.Close()); err != nil {
				return err
			}
		}
		slices.Reverse(order)
	}
	return r.change(ctx, stay)
}

// sync notes what it takes to sync, and what is held then.
func (r *run) sync(p *process) error {
	settings := Settings{p.name, r.server.kubeconfig, r.server.filled, r.handlers}
	if err := r.call(p, "Sync", settings, "Sync"); err != nil {
		return err
	}
	return r.call(p, "Memory", 0, "MemoryAfterSync")
}

// call notes what a method of the client measures.
func (r *run) call(p *process, method string, args any, bench string) error {
	values, err := p.call(method, args)
	if err == nil {
		r.note(bench, "/informer="+p.name, values)
	}
	return err
}

// change makes changes, measures, and in the end compares what handlers have
// seen with a fresh list.
func (r *run) change(ctx context.Context, processes []*process) error {
	for _, p := range processes {
		if _, err := p.call("Slice", 0); err != nil { // the next one measures from here
			return err
		}
	}
	all, used := cores()
	start := time.Now()
	changes := int(r.slice.Seconds() * float64(r.rate))
	for i := range r.slices {
		r.say("%d ConfigMaps: %d changes a second, slice %d of %d", r.server.filled, r.rate, i+1, r.slices)
		if err := r.server.change(ctx, changes, r.rate); err != nil {
			return fmt.Errorf("changing ConfigMaps: %w", err)
		}
		for _, p := range processes {
			if err := r.call(p, "Slice", 0, "Changes"); err != nil {
				return err
			}
		}
	}
	load := Values{"changes/s": float64(r.slices*changes) / time.Since(start).Seconds()}
	if allNow, usedNow := cores(); allNow > all {
		load["busy-%"] = 100 * (usedNow - used) / (allNow - all)
	}
	r.note("Load", "", load)
	versions, err := r.server.versions(ctx)
	if err != nil {
		return err
	}
	for _, p := range processes {
		if err := r.call(p, "Memory", 0, "MemoryAfterChanges"); err != nil {
			return err
		}
		if err := r.call(p, "Check", versions, "Handlers"); err != nil {
			return err
		}
	}
	return nil
}
