// The player: it runs a step, and plays the part of the world around it.

package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// How long the player waits.
const (
	quiet     = 10 * time.Second       // for a line or a command, unless the step says otherwise
	longest   = 5 * time.Minute        // for the lines of a block, as long as some come
	settling  = time.Second            // for one more line, where what has come is wrong already
	hinting   = 2 * time.Second        // before it says what it waits for
	lingering = 500 * time.Millisecond // for a line too many, at the end
	askAgain  = 100 * time.Millisecond // between two answers to one question
	stopping  = 30 * time.Second       // for a program to return whose context has ended; more if quiet is more
	readiness = 10 * time.Millisecond  // between two looks at what the program does
)

// A player plays one step once.
type player struct {
	step   Step
	want   transcript
	lesson *Lesson
	shell  *shell
	out    *output

	quiet  time.Duration
	update bool                  // take what comes for what is expected
	show   func(line string)     // a command, or a line of the step's
	say    func(line string)     // what is not part of the transcript
	pause  func(context.Context) // called before each command is given

	seen   int            // lines of the program that belong to blocks before this one
	before map[int]string // the last line of each speaker in those
	ended  chan struct{}  // closed when the program has returned
	failed error          // what it returned; to be read when ended is closed
}

// play runs the step to its end and returns the transcript of what happened,
// with an error if that is not the expected one, unless it is to be updated.
func (p *player) play(ctx context.Context) (got transcript, err error) {
	got.start = p.want.start
	if got.setup, err = p.setUp(ctx); err != nil {
		return got, err
	}
	if p.want.start != "" {
		p.show(p.want.start)
		p.pause(ctx)
	}

	running, stop := context.WithCancel(ctx)
	defer stop()
	p.start(running)
	defer func() {
		stop()
		late := p.waitForEnd()
		p.finish(&got)
		switch {
		case late != nil:
			err = errors.Join(err, late)
		case errors.Is(err, errSilent), errors.Is(err, errStuck):
			want := p.want
			want.blocks = want.blocks[:len(got.blocks)]
			err = errors.Join(err, differenceError(want, got))
		case p.failed != nil:
			err = errors.Join(err, p.failed)
		case err == nil && !p.update:
			err = differenceError(p.want, got)
		}
	}()
	for i, b := range p.want.blocks {
		if i == 1 && len(p.want.blocks[0].lines) == 0 {
			// What happens next is to reach the program as an event.
			p.poll(ctx, p.quiet, func() bool { return p.lesson.Cluster == nil || p.lesson.Cluster.Watching() })
		}
		done, err := p.give(ctx, b, stop)
		got.blocks = append(got.blocks, done)
		if p.hasFailed() {
			return got, ctx.Err() // the deferred function says why
		}
		if err != nil {
			return got, err
		}
	}
	if !p.want.played() && !p.hasEnded() {
		return got, fmt.Errorf("after %v: %w", p.quiet, errSilent)
	}
	// A line that nobody expects gets the time to come. It proves nothing; that takes
	// an event that is expected later.
	p.poll(ctx, lingering, p.hasEnded)
	return got, ctx.Err()
}

// setUp gives the commands that stand above the start of the program.
func (p *player) setUp(ctx context.Context) (done []block, err error) {
	p.before = map[int]string{}
	for _, b := range p.want.setup {
		given, err := p.give(ctx, b, nil)
		if err != nil {
			return done, err
		}
		done = append(done, given)
	}
	return done, nil
}

// start runs the program in the background. That it returns because its
// context has ended is no failure.
func (p *player) start(ctx context.Context) {
	p.ended = make(chan struct{})
	go func() {
		err := p.step.Run(ctx, p.lesson)
		if !errors.Is(err, context.Canceled) || ctx.Err() == nil {
			p.failed = err
		}
		p.out.flush()
		close(p.ended) // not deferred: a step that panics ends all, and nobody must think that it has returned
	}()
}

// give gives a block's command, if it has one, and waits for its lines.
func (p *player) give(ctx context.Context, b block, stop context.CancelFunc) (done block, err error) {
	done.command = b.command
	var given command
	if b.command != "" {
		defer func() {
			if err != nil {
				err = fmt.Errorf("%s: %w", b.command, err)
			}
		}()
		p.show(b.command)
		p.pause(ctx)
		if given, err = p.command(ctx, b.command, stop); err != nil {
			return done, err
		}
	}
	if done.lines, err = p.await(ctx, b, given); err != nil {
		return done, err
	}
	return done, ctx.Err()
}

// command returns what a line of the transcript wants done. A ^C is done at
// once.
func (p *player) command(ctx context.Context, line string, stop context.CancelFunc) (command, error) {
	switch {
	case ctx.Err() != nil:
		return command{}, ctx.Err()
	case line == interrupt:
		stop()
		return command{}, nil
	case line[0] == '>':
		return p.awaitAction(ctx, line[2:], p.quiet)
	}
	looking, cancel := context.WithTimeout(ctx, p.quiet)
	defer cancel()
	return p.shell.parse(looking, line[2:])
}

// call runs a command, and returns its answer if that comes in time. Nobody can
// stop an action of the step's: one that does not return is left behind, with
// its goroutine, and so is a command that does not return when its context ends.
func (p *player) call(ctx context.Context, given command, limit time.Duration) (answer []string, err error) {
	running, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	returned := make(chan []string, 1)
	go func() { returned <- given.run(running) }()
	select {
	case answer = <-returned:
	case <-running.Done():
	}
	if running.Err() != nil { // the answer, if there is one, says no more than that
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("after %v: %w", p.quiet, errStuck))
	}
	for i, line := range answer {
		answer[i] = p.out.name(line)
	}
	return answer, nil
}

// take makes the lines a part of the transcript, and shows those that were not
// shown when they came: an answer, and the lines of several speakers.
func (p *player) take(b block, got, printed []string, verdict match) []string {
	for _, line := range got[:len(got)-len(printed)] {
		p.show(line)
	}
	p.showSpeakers(printed)
	p.seen += len(printed)
	for _, line := range printed {
		p.before[p.step.speaker(line)] = line
	}
	if verdict == matches {
		return b.lines
	}
	return p.step.tidy(got)
}

// showSpeakers shows the lines of a step with several speakers, one speaker
// after the other. Those of other steps were shown when they came.
func (p *player) showSpeakers(printed []string) {
	if len(p.step.Speakers) > 0 {
		for _, line := range p.step.tidy(printed) {
			p.show(line)
		}
	}
}

// finish adds what the program has printed since the last block to that block.
func (p *player) finish(got *transcript) {
	printed, _ := p.out.from(p.seen)
	p.showSpeakers(printed)
	last := len(got.blocks) - 1
	if len(printed) == 0 || last < 0 {
		return
	}
	want, lines := p.want.blocks[last].lines, append(got.blocks[last].lines, printed...)
	got.blocks[last].lines = p.step.tidy(lines)
	if p.step.compare(want, lines, p.before) == matches {
		got.blocks[last].lines = want
	}
}

func (p *player) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *player) hasFailed() bool { return p.hasEnded() && p.failed != nil }
