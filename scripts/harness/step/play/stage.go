// What a step needs before it can run, and what is left to do afterwards.

package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Check plays a step, on the cluster at hand, and returns an error if it does
// not do as its transcript says. quiet is how long it may print nothing, unless
// the step itself asks for more; show is called with each line that is printed.
func (c Chapter) Check(ctx context.Context, s Step, quiet time.Duration, show func(line string)) error {
	return c.perform(ctx, s, show, func(p *player) error {
		p.quiet = max(quiet, s.Quiet)
		got, err := p.play(ctx)
		if err != nil {
			return err
		}
		return differenceError(p.want, got)
	})
}

// perform reads the transcript of a step, connects to the cluster, and lets do play
// the step. show is called with each line that the user is to see.
func (c Chapter) perform(ctx context.Context, s Step, show func(string), do func(*player) error) (err error) {
	want, err := c.read(ctx, s)
	if err != nil {
		return fmt.Errorf("%s/testdata/%s.txt: %w", c.Name, s.Name, err)
	}
	lesson := &Lesson{}
	if c.NeedsCluster(s) {
		if lesson.Cluster, err = c.Connect(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(lesson.Cluster.Explain(err), lesson.Cluster.Close(ctx)) }()
	}
	var mu sync.Mutex // the program and the player show their lines from different goroutines
	oneAtATime := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		show(line)
	}
	out := &output{name: lesson.name, show: oneAtATime, more: make(chan struct{})}
	if len(s.Speakers) > 0 {
		out.show = func(string) {} // the player shows them, speaker by speaker
	}
	lesson.Out = out
	return do(&player{
		step: s, want: want, lesson: lesson, out: out, quiet: cmp.Or(s.Quiet, quiet),
		shell: &shell{cluster: lesson.Cluster, files: c.Files, address: lesson.servesAt},
		show:  oneAtATime, say: func(string) {}, pause: func(context.Context) {},
	})
}

// check finds the commands that the player could not give.
func (t transcript) check(ctx context.Context) error {
	for i, b := range slices.Concat(t.setup, t.blocks) {
		line, ok := strings.CutPrefix(b.command, "$ ")
		if !ok && i < len(t.setup) {
			return fmt.Errorf("%s: the program does not run yet", b.command)
		}
		if !ok {
			continue
		}
		if _, err := new(shell).parse(ctx, line); err != nil {
			return fmt.Errorf("%s: %w", b.command, err)
		}
	}
	return nil
}
