// What a step needs before it can run, and what is left to do afterwards.

package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A stage has all that one play of a step needs.
type stage struct {
	cluster Cluster // nil for a step without one
	player  *player
}

// stage reads the transcript of a step, connects to the cluster, and makes the
// lesson. show is called with each line that the user is to see.
func (c Chapter) stage(ctx context.Context, s Step, show func(string)) (*stage, error) {
	want, err := c.read(s)
	if err != nil {
		return nil, err
	}
	if err := want.check(ctx); err != nil {
		return nil, fmt.Errorf("%s/testdata/%s.txt: %w", c.Name, s.Name, err)
	}
	lesson := &Lesson{events: map[string]func(){}, offered: make(chan struct{})}
	namespace := ""
	if c.NeedsCluster(s) {
		if lesson.Cluster, err = c.Connect(ctx); err != nil {
			return nil, err
		}
		namespace = lesson.Cluster.Namespace()
	}
	st := &stage{cluster: lesson.Cluster}
	show = oneAtATime(show)
	live := show
	if len(s.Speakers) > 0 {
		live = func(string) {} // the player shows them, speaker by speaker
	}
	out := newOutput(namer(namespace, lesson.servesAt), live)
	lesson.Out = out
	st.player = &player{
		step:   s,
		want:   want,
		lesson: lesson,
		shell:  &shell{cluster: st.cluster, files: c.Files, address: lesson.servesAt},
		out:    out,
		quiet:  quiet,
		show:   show,
		say:    func(string) {},
		pause:  func(context.Context) {},
	}
	if s.Quiet > 0 {
		st.player.quiet = s.Quiet
	}
	return st, nil
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
	stage, err := c.stage(ctx, s, show)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.close(ctx)) }()
	stage.player.quiet = max(quiet, s.Quiet)
	got, err := stage.player.play(ctx)
	if err != nil {
		return stage.explain(err)
	}
	return differenceError(stage.player.want, got)
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

func (s *stage) close(ctx context.Context) error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Close(ctx)
}

// explain adds to an error from the cluster what the user can do about it.
func (s *stage) explain(err error) error {
	if s.cluster == nil || err == nil {
		return err
	}
	return s.cluster.Explain(err)
}
