// The player drives a step from its transcript.

package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How long the player waits.
const (
	defaultPatience = 10 * time.Second       // for a line or a command, unless the step or the user asks for more
	testPatience    = time.Minute            // the same in tests: the machine may be busy
	blockTimeout    = 5 * time.Minute        // for the lines of a block, as long as some come
	settleTimeout   = time.Second            // for one more line, after wrong lines
	drainTimeout    = 500 * time.Millisecond // for a line too many, at the end
	stopTimeout     = 30 * time.Second       // until a program has returned after its context has ended
	hintDelay       = 2 * time.Second        // before the player says what it waits for
	retryInterval   = 100 * time.Millisecond // between two answers to one question
	pollInterval    = 10 * time.Millisecond  // between two looks at the state of the program
)

// A player plays one step once.
type player struct {
	step  Step
	want  transcript
	env   *Env
	shell *shell
	out   *output

	patience time.Duration         // for a line or a command
	update   bool                  // the lines that come replace the expected ones
	report   reporter              // takes what the user is to see
	pause    func(context.Context) // called before each command runs

	at     int            // the number of the transcript's line above the lines of this block
	judged bool           // the lines of this block were reported
	seen   int            // lines of the program that belong to the blocks before this one
	before map[int]string // the last line of each speaker in those blocks
	ended  chan struct{}  // closed when the program has returned; nil before it starts
	failed error          // the error that the program returned; to be read when ended is closed
}

// play runs the step to its end, and returns the transcript of what happened. It returns an error
// if that is not the expected transcript, unless the transcript is to be updated.
func (p *player) play(ctx context.Context) (got transcript, err error) {
	got.start = p.want.start
	got.setup, err = p.setUp(ctx)
	if err != nil {
		return got, err
	}
	if p.want.start != "" {
		p.showCommand(ctx, p.want.start)
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	p.start(running)
	got.blocks, err = p.playBlocks(ctx, stop)
	stop()
	late := p.waitForEnd()
	p.finish(ctx, &got)
	return got, p.outcome(got, err, late)
}

// setUp runs the commands that stand above the start of the program.
func (p *player) setUp(ctx context.Context) (done []block, err error) {
	p.before = map[int]string{}
	for _, b := range p.want.setup {
		played, err := p.runBlock(ctx, b, nil)
		if err != nil {
			return done, err
		}
		done = append(done, played)
	}
	return done, nil
}

// start runs the program in the background. An error that the program returns because its context
// has ended is not a failure.
func (p *player) start(ctx context.Context) {
	p.ended = make(chan struct{})
	go func() {
		err := p.step.Run(ctx, p.env)
		if !errors.Is(err, context.Canceled) || ctx.Err() == nil {
			p.failed = err
		}
		p.out.flush()
		close(p.ended) // not deferred: a step that panics has not returned, and its panic ends the process
	}()
}

// playBlocks runs the commands of the transcript, and waits for the lines after each of them. It
// returns the blocks that it has played, even on an error.
func (p *player) playBlocks(ctx context.Context, stop context.CancelFunc) (done []block, err error) {
	for i, b := range p.want.blocks {
		if i == 1 && len(p.want.blocks[0].lines) == 0 {
			p.awaitWatch(ctx)
		}
		played, err := p.runBlock(ctx, b, stop)
		done = append(done, played)
		if p.hasFailed() {
			return done, ctx.Err() // outcome adds the error of the program
		}
		if err != nil {
			return done, err
		}
	}
	if !p.want.hasCommands() && !p.hasEnded() {
		return done, fmt.Errorf("after %v: %w", p.patience, errSilent)
	}
	// An unexpected line gets some time to come. If none comes, that proves nothing. A proof is the
	// line of an event that happens later.
	p.poll(ctx, drainTimeout, p.hasEnded)
	return done, ctx.Err()
}

// awaitWatch waits until the program watches, so that the first command reaches the program as an
// event.
func (p *player) awaitWatch(ctx context.Context) {
	if p.env.Cluster != nil {
		p.poll(ctx, p.patience, p.env.Cluster.Watching)
	}
}

// outcome returns the error of a play that has ended. err is the error of playBlocks. late is the
// error of a program that has not returned.
func (p *player) outcome(got transcript, err, late error) error {
	switch {
	case late != nil:
		return errors.Join(err, late)
	case errors.Is(err, errSilent), errors.Is(err, errTimedOut):
		want := p.want
		want.blocks = want.blocks[:len(got.blocks)] // no difference for blocks that were not played
		return errors.Join(err, differenceError(want, got))
	case p.failed != nil:
		return errors.Join(err, p.failed)
	case err == nil && !p.update:
		return differenceError(p.want, got)
	default:
		return err
	}
}

// runBlock runs the command of a block, if it has one, and waits for the lines of the block.
func (p *player) runBlock(ctx context.Context, b block, stop context.CancelFunc) (done block, err error) {
	done.command = b.command
	p.judged = false
	defer func() { p.at += len(b.lines) }()
	if b.command == "" {
		done.lines, err = p.await(ctx, b, command{})
		return done, cmp.Or(err, ctx.Err())
	}
	done.lines, err = p.runCommand(ctx, b, stop)
	err = cmp.Or(err, ctx.Err())
	if err != nil {
		return done, fmt.Errorf("%s: %w", b.command, err)
	}
	return done, nil
}

func (p *player) runCommand(ctx context.Context, b block, stop context.CancelFunc) (lines []string, err error) {
	p.showCommand(ctx, b.command)
	cmd, err := p.parseCommand(ctx, b.command, stop)
	if err != nil {
		return nil, err
	}
	return p.await(ctx, b, cmd)
}

// showCommand shows a command before it runs.
func (p *player) showCommand(ctx context.Context, line string) {
	p.at++
	p.report(event{Event: commandEvent, At: p.at, Text: line})
	p.pause(ctx)
}

// parseCommand returns the command of a line of the transcript. It executes a ^C immediately.
func (p *player) parseCommand(ctx context.Context, line string, stop context.CancelFunc) (command, error) {
	if ctx.Err() != nil {
		return command{}, ctx.Err()
	}
	if line == interrupt {
		stop()
		return command{}, nil
	}
	if action, ok := strings.CutPrefix(line, actionPrefix); ok {
		return p.awaitAction(ctx, action, p.patience)
	}
	return p.shell.parse(strings.TrimPrefix(line, commandPrefix))
}

// call runs a command, and returns its answer if the answer comes in time. An action of the step
// cannot be stopped: if it does not return, its goroutine is left behind. A command that does not
// return when its context ends is left behind too.
func (p *player) call(ctx context.Context, cmd command, limit time.Duration) (answer []string, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	returned := make(chan []string, 1)
	go func() { returned <- cmd.run(limited) }()
	select {
	case answer = <-returned:
	case <-limited.Done():
	}
	if limited.Err() != nil { // an answer would only say that the context has ended
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("after %v: %w", p.patience, errTimedOut))
	}
	for i, line := range answer {
		answer[i] = p.out.normalize(line)
	}
	return answer, nil
}

// take makes the answer of a command and the lines of the program a part of the transcript, and
// reports them.
func (p *player) take(ctx context.Context, b block, answer, printed []string, verdict match) (lines []string) {
	p.seen += len(printed)
	for _, line := range printed {
		p.before[p.step.speaker(line)] = line
	}
	lines = b.lines
	if verdict != matches {
		lines = p.step.tidy(slices.Concat(answer, printed))
	}
	p.reportBlock(ctx, p.at, b.lines, lines, slices.Concat(answer, p.grouped(printed)))
	return lines
}

// grouped returns the lines of a step with several speakers, one speaker after the other. It
// returns nothing for other steps, because their lines were shown when they came.
func (p *player) grouped(printed []string) []string {
	if len(p.step.Speakers) == 0 {
		return nil
	}
	return p.step.tidy(printed)
}

// reportBlock reports the lines of a block with their verdicts. show has those of them that were
// not shown when they came.
func (p *player) reportBlock(ctx context.Context, at int, want, got, show []string) {
	p.judged = true
	e := event{Event: blockEvent, At: at, Through: p.seen, Rows: judge(want, got, at), show: show}
	switch {
	case slices.Equal(want, got):
		e.Verdict = isOK
	case ctx.Err() != nil:
		e.Verdict, e.Rows = isStopped, stoppedRows(e.Rows)
	default:
		e.Verdict = isOther
	}
	p.report(e)
}

// finish adds the lines that the program has printed since the last block to that block.
func (p *player) finish(ctx context.Context, got *transcript) {
	printed, _ := p.out.from(p.seen)
	last := len(got.blocks) - 1
	if p.judged && len(printed) == 0 {
		return
	}
	p.seen += len(printed)
	want := p.want.blocks[last].lines
	lines := slices.Concat(got.blocks[last].lines, printed)
	if p.step.compare(want, lines, p.before) == matches {
		got.blocks[last].lines = want
	} else {
		got.blocks[last].lines = p.step.tidy(lines)
	}
	p.reportBlock(ctx, p.at-len(want), want, got.blocks[last].lines, p.grouped(printed))
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
