// How the player waits: for the lines of a block, for an action of the step, and for the end of the
// program.

package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// await runs the command of a block, if there is one, and waits for the lines of the block. It
// gives up when it is clear that they do not come. It returns the lines that have come: first the
// answer of the command, if there is one, then the lines of the program.
func (p *player) await(ctx context.Context, b block, cmd command) ([]string, error) {
	w := &lineWait{player: p, block: b, command: cmd, begun: time.Now(), changed: time.Now(), count: -1}
	for {
		ended := p.hasEnded() // before the lines are read, so that no line of a program that has ended is missed
		if err := w.ask(ctx); err != nil {
			return nil, err
		}
		more := w.read()
		if ended || w.isOver() || w.timeLeft() <= 0 || ctx.Err() != nil {
			return p.take(ctx, b, w.answer, w.printed, w.verdict), nil
		}
		// A program that prints all the time is never silent, nor is a question whose answers
		// differ in length.
		if limit := max(blockTimeout, 2*p.patience); time.Since(w.begun) > limit {
			return nil, fmt.Errorf("after %v: it still prints", limit)
		}
		w.hint()
		select {
		case <-more:
		case <-p.ended:
		case <-time.After(w.untilNextLook()):
		case <-ctx.Done():
		}
	}
}

// A lineWait is the wait for the lines of one block.
type lineWait struct {
	player  *player
	block   block
	command command // its run is nil if the block has no command

	begun   time.Time
	changed time.Time // when the number of lines changed last
	count   int       // of lines, at that time; -1 before the first look

	asked   bool     // the command has answered
	answer  []string // its last answer
	printed []string // the lines of the program since the block before
	verdict match    // how answer and printed compare with the block
	hinted  bool
}

// ask runs the command for the first time, and again if it is a question. If a question gets no
// answer any more, its last answer stays.
func (w *lineWait) ask(ctx context.Context) error {
	if w.command.run == nil || w.asked && !w.command.question {
		return nil
	}
	answer, err := w.player.call(ctx, w.command, time.Until(w.changed.Add(w.player.patience)))
	switch {
	case err == nil:
		w.answer, w.asked = answer, true
		return nil
	case w.asked:
		return nil
	default:
		return err
	}
}

// read takes the lines that the program has printed, and compares all lines with the block. It
// returns a channel that is closed when the program prints another line.
func (w *lineWait) read() (more <-chan struct{}) {
	w.printed, more = w.player.out.from(w.player.seen)
	lines := w.lines()
	if len(lines) != w.count {
		w.changed, w.count = time.Now(), len(lines)
	}
	w.verdict = w.player.step.compare(w.block.lines, lines, w.player.before)
	return more
}

// lines returns all lines that have come.
func (w *lineWait) lines() []string { return slices.Concat(w.answer, w.printed) }

// isOver reports whether there is no line to wait for. With -update, a block without lines does not
// say how many lines come; but before the program runs, only a question has an answer.
func (w *lineWait) isOver() bool {
	if w.player.update && len(w.block.lines) == 0 {
		return w.player.ended == nil && !w.command.question
	}
	return w.verdict == matches && !w.player.runsToItsEnd()
}

// timeLeft returns how long to wait for the next line. Where enough lines have come and they are
// wrong, that is a short time.
func (w *lineWait) timeLeft() time.Duration {
	patience := w.player.patience
	wrong := w.verdict == differs && w.count >= len(w.block.lines)
	if wrong && !w.command.question && !w.player.update && !w.player.runsToItsEnd() {
		patience = min(settleTimeout, patience)
	}
	return time.Until(w.changed.Add(patience))
}

// untilHint returns how long the player waits before it says what it waits for.
func (w *lineWait) untilHint() time.Duration { return time.Until(w.changed.Add(hintDelay)) }

// untilNextLook returns how long to wait if no line comes.
func (w *lineWait) untilNextLook() time.Duration {
	next := w.timeLeft()
	if w.command.question {
		next = min(next, retryInterval)
	}
	if hint := w.untilHint(); hint > 0 {
		next = min(next, hint)
	}
	return next
}

// hint says what the player waits for, once, after some silence. It does not for a program that
// returns by itself.
func (w *lineWait) hint() {
	if w.hinted || w.untilHint() > 0 || w.player.runsToItsEnd() {
		return
	}
	w.hinted = true
	missing := "more lines"
	lines := w.lines()
	for _, line := range w.block.lines {
		if !slices.Contains(lines, line) {
			missing = line
			break
		}
	}
	w.player.report(event{Event: waitEvent, For: forLine, Text: missing})
}

// runsToItsEnd reports whether the program runs, and is to return by itself. The player does not
// stop such a program because of its lines.
func (p *player) runsToItsEnd() bool { return p.ended != nil && !p.want.hasCommands() }

// poll waits until done returns true, the program has returned, or the time is up.
func (p *player) poll(ctx context.Context, limit time.Duration, done func() bool) {
	timeout := time.After(limit)
	for !done() {
		select {
		case <-time.After(pollInterval):
		case <-timeout:
			return
		case <-p.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// awaitAction waits until the step offers the action.
func (p *player) awaitAction(ctx context.Context, name string, limit time.Duration) (command, error) {
	p.poll(ctx, limit, func() bool { return p.env.action(name) != nil })
	action := p.env.action(name)
	switch {
	case ctx.Err() != nil:
		return command{}, ctx.Err()
	case p.hasEnded():
		return command{}, fmt.Errorf("the step has returned: there is no action %q any more", name)
	case action == nil:
		return command{}, fmt.Errorf("the step offers no action %q; it offers %q", name, p.env.actionNames())
	}
	return command{run: func(context.Context) []string {
		action()
		return nil
	}}, nil
}

// errTimedOut is the error of a command that does not return.
var errTimedOut = errors.New("it did not return")

// errSilent is the error of a program that should return by itself, and does not.
var errSilent = errors.New("it printed nothing more, and did not return: its context was canceled")

// waitForEnd waits for a program whose context has ended.
func (p *player) waitForEnd() error {
	limit := max(stopTimeout, p.patience)
	p.poll(context.Background(), limit, p.hasEnded)
	if !p.hasEnded() {
		return fmt.Errorf("its context ended %v ago, and it has not returned", limit)
	}
	return nil
}
