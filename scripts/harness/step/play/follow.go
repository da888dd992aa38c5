// The flag -follow: the step runs until Ctrl-C, and the user plays the world
// around it.

package play

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// followStep plays the set-up of a step and runs the step until Ctrl-C.
func (r runner) followStep(ctx context.Context, p *player) error {
	p.lesson.Follow = true
	for _, b := range p.want.setup {
		if _, err := p.give(ctx, b, nil); err != nil {
			return err
		}
	}
	p.out.show = p.show                                   // as it comes, even of several speakers
	p.out.name = func(line string) string { return line } // with the real namespace and address
	p.start(ctx)
	r.suggest(ctx, p)
	go r.takeEvents(ctx, p)
	select {
	case <-p.ended:
	case <-ctx.Done():
		if err := p.waitForEnd(); err != nil {
			return err
		}
	}
	return p.failed
}

// suggest prints what to try: the commands of the transcript, with this
// namespace and this address.
func (r runner) suggest(ctx context.Context, p *player) {
	commands := p.want.commands()
	if len(commands) == 0 {
		fmt.Fprintln(r.stdout, "This step returns by itself; there is nothing to try around it.")
		return
	}
	address := "ADDRESS"
	if strings.Contains(strings.Join(commands, "\n"), address) {
		p.poll(ctx, p.quiet, func() bool { return p.lesson.servesAt() != "" })
		address = cmp.Or(p.lesson.servesAt(), address)
	}
	if p.hasFailed() {
		return // the error says why there is nothing to try
	}
	var elsewhere, here []string
	for i, line := range commands {
		if line == interrupt || slices.Contains(commands[:i], line) {
			continue
		}
		if event, ok := strings.CutPrefix(line, "> "); ok {
			here = append(here, "  "+event)
			continue
		}
		line = strings.Replace(line, "$ ", "  ", 1)
		if p.lesson.Cluster != nil {
			line = strings.Replace(line, "kubectl", p.lesson.Cluster.KubectlCommand(), 1)
			line = strings.Replace(line, " -f ", " -f "+r.chapter.Name+"/testdata/", 1)
			line = strings.ReplaceAll(line, "NAMESPACE", p.lesson.Cluster.Namespace())
		}
		elsewhere = append(elsewhere, strings.ReplaceAll(line, "ADDRESS", address))
	}
	var text strings.Builder
	for _, part := range []struct {
		title string
		lines []string
	}{{"Try these in another terminal:", elsewhere}, {"Type these here:", here}} {
		if len(part.lines) > 0 {
			fmt.Fprintf(&text, "%s\n%s\n", part.title, strings.Join(part.lines, "\n"))
		}
	}
	fmt.Fprintf(r.stdout, "%sCtrl-C ends it.\n", &text)
}

// takeEvents reads the names of events, until there is no more to read.
func (r runner) takeEvents(ctx context.Context, p *player) {
	for line := range r.input {
		name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), ">"))
		if name == "" {
			continue
		}
		given, err := p.awaitEvent(ctx, name, settling)
		if err == nil {
			_, err = p.call(ctx, given, p.quiet)
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(r.flags.Output(), "> %s: %v\n", name, err)
		}
	}
}
