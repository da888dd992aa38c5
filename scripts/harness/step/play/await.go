// What the player waits for: lines, actions, a watch, the end of the program.

package play

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// poll waits until something is so, the program has returned, or the time is up.
func (p *player) poll(ctx context.Context, limit time.Duration, done func() bool) {
	for timeout := time.After(limit); !done(); {
		select {
		case <-time.After(readiness):
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
	var do any
	p.poll(ctx, limit, func() (found bool) { do, found = p.lesson.actions.Load(name); return found })
	switch {
	case ctx.Err() != nil:
		return command{}, ctx.Err()
	case p.hasEnded():
		return command{}, fmt.Errorf("the step has returned: there is no action %q any more", name)
	case do == nil:
		var offered []string
		p.lesson.actions.Range(func(name, _ any) bool { offered = append(offered, name.(string)); return true })
		slices.Sort(offered)
		return command{}, fmt.Errorf("the step offers no action %q; it offers %q", name, offered)
	}
	return command{run: func(context.Context) []string { do.(func())(); return nil }}, nil
}

// errStuck is a command that does not return.
var errStuck = errors.New("it did not return, and nobody waits for it any longer")

// await runs the command of a block, if there is one, and waits for the lines,
// or until it is clear that they do not come. It returns what has come: the
// lines of the answer, if there is one, then those of the program.
func (p *player) await(ctx context.Context, b block, given command) ([]string, error) {
	begun := time.Now()
	last, count, hinted := begun, -1, false
	var answer []string
	for ask := given.run != nil; ; {
		ended := p.hasEnded() // before what it has printed is read: then nothing is missed
		if ask {
			switch now, err := p.call(ctx, given, time.Until(last.Add(p.quiet))); {
			case err == nil:
				answer = now
			case count < 0:
				return nil, err // else the answer that came before it is the last
			}
			ask = given.question
		}
		printed, more := p.out.from(p.seen)
		got := slices.Concat(answer, printed)
		if len(got) != count {
			last, count = time.Now(), len(got)
		}
		verdict := p.step.compare(b.lines, got, p.before)
		patience := p.quiet
		if verdict == differs && len(got) >= len(b.lines) && !given.question && !p.update && !p.toEnd() {
			patience = min(settling, p.quiet)
		}
		left := time.Until(last.Add(patience))
		if p.isOver(b, verdict, given.question) || ended || left <= 0 || ctx.Err() != nil {
			return p.take(b, got, printed, verdict), nil
		}
		if limit := max(longest, 2*p.quiet); time.Since(begun) > limit {
			// Where something is printed all the time, or no two answers have the same length, there is no silence.
			return nil, fmt.Errorf("after %v: it still prints", limit)
		}
		if ask {
			left = min(left, askAgain)
		}
		if hint := time.Until(last.Add(hinting)); hint > 0 {
			left = min(left, hint)
		} else if !hinted && !p.toEnd() {
			hinted = true
			p.hint(b, got)
		}
		select {
		case <-more:
		case <-p.ended:
		case <-time.After(left):
		case <-ctx.Done():
		}
	}
}

// toEnd is whether the program runs, and is to return by itself: nobody stops it
// because of its lines.
func (p *player) toEnd() bool { return p.ended != nil && !p.want.played() }

// isOver is whether there is no line to wait for. For -update, a block without
// lines says nothing; but before the program runs, only a question has an answer.
func (p *player) isOver(b block, verdict match, question bool) bool {
	if p.update && len(b.lines) == 0 {
		return p.ended == nil && !question
	}
	return verdict == matches && !p.toEnd()
}

// hint says what the play waits for.
func (p *player) hint(b block, got []string) {
	missing := slices.DeleteFunc(slices.Clone(b.lines), func(line string) bool { return slices.Contains(got, line) })
	p.say("(waiting for: " + append(missing, "more lines")[0] + ")")
}

// errSilent is a program that should return by itself, and does not.
var errSilent = errors.New("it printed nothing more, and did not return: its context was ended")

// waitForEnd waits for a program whose context has ended.
func (p *player) waitForEnd() error {
	limit := max(stopping, p.quiet)
	p.poll(context.Background(), limit, p.hasEnded)
	if !p.hasEnded() {
		return fmt.Errorf("its context ended %v ago, and it has not returned", limit)
	}
	return nil
}

// output collects the lines that are written to it, from any goroutine.
type output struct {
	show func(line string)        // called for each line as it comes
	name func(line string) string // puts NAMESPACE and ADDRESS into the line

	mu      sync.Mutex
	partial []byte
	lines   []string
	more    chan struct{} // closed, and made anew, when a line comes
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.partial = append(o.partial, p...)
	for {
		line, rest, found := bytes.Cut(o.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		o.partial = rest
		named := o.name(string(line))
		o.lines = append(o.lines, named)
		o.show(named)
		close(o.more)
		o.more = make(chan struct{})
	}
}

// flush ends a line that was written without its end.
func (o *output) flush() {
	o.mu.Lock()
	begun := len(o.partial) > 0
	o.mu.Unlock()
	if begun {
		o.Write([]byte("\n"))
	}
}

// from returns the lines that came after the first n, and a channel that
// closes when another one comes.
func (o *output) from(n int) (lines []string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.lines[n:]), o.more
}
