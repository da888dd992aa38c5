// Running the plan.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/load/subject"
)

// measured is what a run came to.
type measured struct {
	plan
	date   string
	bySize []*sized
}

// sized is what was measured with one number of objects.
type sized struct {
	objects int
	changes int     // how many were made
	seconds float64 // how long that took
	busy    float64 // how much of all cores was in use meanwhile, 0 to 1; less than 0: unknown
	sides   map[string]*side
}

// side is what was measured of one factory.
type side struct {
	syncs  []subject.Report // one for each round
	synced []subject.Report // the same: the memory then
	slices []subject.Report // of the time of changes
	after  subject.Report   // the memory then
	end    subject.Report   // what was lost
}

// names of the sides, in the order of the table.
var names = []string{report.Theirs, report.Ours}

// lost sums over both sides.
func (m *measured) lost() (n int) {
	for _, s := range m.bySize {
		for _, side := range s.sides {
			n += side.end.Lost
		}
	}
	return n
}

// A course is a run under way.
type course struct {
	plan
	ground   *ground
	profiles string
	progress io.Writer
}

func measure(ctx context.Context, p plan, profiles string, progress io.Writer) (m *measured, err error) {
	c := &course{plan: p, profiles: profiles, progress: progress}
	if c.ground, err = openGround(ctx, progress); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.ground.Close()) }()
	m = &measured{plan: p, date: time.Now().Format(time.DateOnly)}
	for _, objects := range p.sizes {
		s := &sized{objects: objects, sides: map[string]*side{report.Theirs: {}, report.Ours: {}}}
		m.bySize = append(m.bySize, s)
		c.say(s, "creating %s", report.Grouped(objects-c.ground.filled))
		if err := c.ground.fill(ctx, objects); err != nil {
			return nil, fmt.Errorf("creating ConfigMaps: %w", err)
		}
		if err := c.run(ctx, s); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (c *course) say(s *sized, format string, args ...any) {
	fmt.Fprintf(c.progress, "%s ConfigMaps: %s\n", report.Grouped(s.objects), fmt.Sprintf(format, args...))
}

// run lets both sync in each round, one after the other, so that they do not
// compete; they take turns in being first. Those of the last round stay for the
// changes, which both see at the same time.
func (c *course) run(ctx context.Context, s *sized) (err error) {
	order := slices.Clone(names)
	for round := 1; round < c.rounds; round++ {
		c.say(s, "sync, round %d of %d", round, c.rounds)
		for _, name := range order {
			r, err := c.sync(ctx, s, name, "")
			if err != nil {
				return err
			}
			if err := r.Close(); err != nil {
				return err
			}
		}
		slices.Reverse(order)
	}
	c.say(s, "sync, round %d of %d", c.rounds, c.rounds)
	rivals := map[string]*rival{}
	defer func() {
		for _, r := range rivals {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, name := range order {
		r, err := c.sync(ctx, s, name, c.profiles)
		if err != nil {
			return err
		}
		rivals[name] = r
	}
	return c.change(ctx, s, rivals)
}

// sync starts a process, and notes what it took to sync, and what it holds then.
func (c *course) sync(ctx context.Context, s *sized, name, profiles string) (*rival, error) {
	settings := subject.Settings{Factory: name, Kubeconfig: c.ground.plane.Kubeconfig(), Objects: s.objects, Handlers: c.handlers}
	if profiles != "" {
		settings.Profiles = filepath.Join(profiles, fmt.Sprintf("%s-%d-", name, s.objects))
	}
	r, first, err := newRival(ctx, settings)
	if err != nil {
		return nil, err
	}
	memory, err := r.do(subject.Order{Do: subject.Memory})
	if err != nil {
		return nil, err
	}
	of := s.sides[name]
	of.syncs, of.synced = append(of.syncs, first), append(of.synced, memory)
	return r, nil
}

// change makes changes, measures, and in the end compares what handlers have
// seen with a fresh list.
func (c *course) change(ctx context.Context, s *sized, rivals map[string]*rival) error {
	for _, name := range names {
		if _, err := rivals[name].do(subject.Order{Do: subject.Begin}); err != nil {
			return err
		}
	}
	used, start := coresUsed(), time.Now()
	for i := range c.slices {
		c.say(s, "%d changes a second, %v of %v", c.rate, time.Duration(i)*c.slice, time.Duration(c.slices)*c.slice)
		n, err := c.ground.change(ctx, c.rate, c.slice)
		if err != nil {
			return fmt.Errorf("changing ConfigMaps: %w", err)
		}
		s.changes += n
		for _, name := range names {
			slice, err := rivals[name].do(subject.Order{Do: subject.Mark})
			if err != nil {
				return err
			}
			s.sides[name].slices = append(s.sides[name].slices, slice)
		}
	}
	s.seconds, s.busy = time.Since(start).Seconds(), coresUsed().since(used)
	return c.judge(ctx, s, rivals)
}

func (c *course) judge(ctx context.Context, s *sized, rivals map[string]*rival) error {
	versions, err := c.ground.versions(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		r, of := rivals[name], s.sides[name]
		if of.after, err = r.do(subject.Order{Do: subject.Memory}); err != nil {
			return err
		}
		if of.end, err = r.do(subject.Order{Do: subject.Judge, Versions: versions}); err != nil {
			return err
		}
	}
	return nil
}
