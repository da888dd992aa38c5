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

// newPlayer reads the transcript of a step, connects to the cluster, and makes the
// lesson. show is called with each line that the user is to see.
func (c Chapter) newPlayer(ctx context.Context, s Step, show func(string)) (*player, error) {
	want, err := c.read(s)
	if err != nil {
		return nil, err
	}
	if err := want.check(ctx); err != nil {
		return nil, fmt.Errorf("%s/testdata/%s.txt: %w", c.Name, s.Name, err)
	}
	lesson := &Lesson{events: map[string]func(){}}
	namespace := ""
	if c.NeedsCluster(s) {
		if lesson.Cluster, err = c.Connect(ctx); err != nil {
			return nil, err
		}
		namespace = lesson.Cluster.Namespace()
	}
	show = oneAtATime(show)
	live := show
	if len(s.Speakers) > 0 {
		live = func(string) {} // the player shows them, speaker by speaker
	}
	out := newOutput(namer(namespace, lesson.servesAt), live)
	lesson.Out = out
	return &player{
		step: s, want: want, lesson: lesson, out: out, quiet: cmp.Or(s.Quiet, quiet),
		shell: &shell{cluster: lesson.Cluster, files: c.Files, address: lesson.servesAt},
		show:  show, say: func(string) {}, pause: func(context.Context) {},
	}, nil
}

// oneAtATime lets the program and the player show their lines from different
// goroutines.
func oneAtATime(show func(string)) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		show(line)
	}
}

// Check plays a step, on the cluster at hand, and returns an error if it does
// not do as its transcript says. quiet is how long it may print nothing, unless
// the step itself asks for more; show is called with each line that is printed.
func (c Chapter) Check(ctx context.Context, s Step, quiet time.Duration, show func(line string)) (err error) {
	p, err := c.newPlayer(ctx, s, show)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	p.quiet = max(quiet, s.Quiet)
	got, err := p.play(ctx)
	if err != nil {
		return p.explain(err)
	}
	return differenceError(p.want, got)
}

// check finds the commands that the player could not give.
func (t transcript) check(ctx context.Context) error {
	for _, b := range slices.Concat(t.setup, t.blocks) {
		if line, ok := strings.CutPrefix(b.command, "$ "); ok {
			if _, err := new(shell).parse(ctx, line); err != nil {
				return fmt.Errorf("%s: %w", b.command, err)
			}
		}
	}
	for _, b := range t.setup {
		if !strings.HasPrefix(b.command, "$ ") {
			return fmt.Errorf("%s: the program does not run yet", b.command)
		}
	}
	return nil
}

func (p *player) close(ctx context.Context) error {
	if p.lesson.Cluster == nil {
		return nil
	}
	return p.lesson.Cluster.Close(ctx)
}

// explain adds to an error from the cluster what the user can do about it.
func (p *player) explain(err error) error {
	if p.lesson.Cluster == nil || err == nil {
		return err
	}
	return p.lesson.Cluster.Explain(err)
}
