// The player: it runs a step, and plays the part of the world around it.

package step

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long the player waits.
const (
	quiet     = 10 * time.Second       // for a line, unless the step says otherwise
	settling  = time.Second            // for one more line, where what has come is wrong already
	hinting   = 2 * time.Second        // before it says what it waits for
	lingering = 500 * time.Millisecond // for a line too many, at the end
	askAgain  = 100 * time.Millisecond // between two answers to one question
	stopping  = 30 * time.Second       // for a program to return whose context has ended
	readiness = 10 * time.Millisecond  // between two looks at whether the program watches
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

	seen   int               // lines of the program that belong to blocks before this one
	before map[string]string // the last line of each speaker in those
	ended  chan struct{}     // closed when the program has returned
	failed error             // what it returned; to be read when ended is closed
}

// play runs the step to its end and returns the transcript of what happened.
// Where that is as expected, it is the expected one.
func (p *player) play(ctx context.Context) (got transcript, err error) {
	p.before = map[string]string{}
	got.start = p.want.start
	for _, b := range p.want.setup {
		done, err := p.give(ctx, b, nil)
		if err != nil {
			return got, err
		}
		got.setup = append(got.setup, done)
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
		switch {
		case late != nil:
			err = errors.Join(err, late)
		case errors.Is(err, errSilent):
			p.finish(&got)
			err = errors.Join(err, differenceError(p.want, got))
		case p.failed != nil && !(errors.Is(p.failed, context.Canceled) && running.Err() != nil):
			err = p.failed
		case err == nil:
			p.finish(&got)
		}
	}()
	if !p.want.played() {
		got.blocks = []block{{}}
		return got, p.awaitEnd(ctx)
	}
	for i, b := range p.want.blocks {
		if i == 1 && len(p.want.blocks[0].lines) == 0 {
			p.awaitWatch(ctx)
		}
		done, err := p.give(ctx, b, stop)
		if err != nil {
			return got, err
		}
		got.blocks = append(got.blocks, done)
		if p.hasFailed() {
			return got, nil // the deferred function says why
		}
	}
	p.linger(ctx)
	return got, ctx.Err()
}

// start runs the program in the background.
func (p *player) start(ctx context.Context) {
	p.ended = make(chan struct{})
	go func() {
		p.failed = p.step.Run(ctx, p.lesson)
		p.out.flush()
		close(p.ended) // not deferred: a step that panics ends all, and nobody must think that it has returned
	}()
}

// linger gives a line that nobody expects the time to come. It proves nothing;
// that takes an event that is expected later.
func (p *player) linger(ctx context.Context) {
	select {
	case <-p.ended:
	case <-time.After(lingering):
	case <-ctx.Done():
	}
}

// give gives a block's command, if it has one, and waits for its lines.
func (p *player) give(ctx context.Context, b block, stop context.CancelFunc) (block, error) {
	var ask func() []string
	question := false
	if b.command != "" {
		p.show(b.command)
		p.pause(ctx)
		var err error
		if ask, question, err = p.do(ctx, b.command, stop); err != nil {
			return b, fmt.Errorf("%s: %w", b.command, err)
		}
	}
	lines := p.await(ctx, b, ask, question)
	return block{command: b.command, lines: lines}, ctx.Err()
}

// do gives a command. Where it has an answer, ask gets that; where the command
// is a question, another answer may come later.
func (p *player) do(ctx context.Context, line string, stop context.CancelFunc) (
	ask func() []string, question bool, err error,
) {
	switch {
	case line == interrupt:
		stop()
		return nil, false, nil
	case line[0] == '>':
		do, err := p.awaitEvent(ctx, line[2:], p.quiet)
		if err != nil {
			return nil, false, err
		}
		do()
		return nil, false, nil
	}
	command, err := p.shell.parse(line[2:])
	if err != nil {
		return nil, false, err
	}
	answer := func() []string {
		lines := command.run(ctx)
		for i, line := range lines {
			lines[i] = p.out.name(line)
		}
		return lines
	}
	if command.question {
		return answer, true, nil
	}
	if lines := answer(); len(lines) > 0 { // what went wrong
		return func() []string { return lines }, false, nil
	}
	return nil, false, nil
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
	last := len(got.blocks) - 1
	if len(printed) == 0 || last < 0 {
		return
	}
	p.showSpeakers(printed)
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
