// The flag -follow: the step runs until Ctrl-C, and the user plays the world
// around it.

package play

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/informer/scripts/harness/quote"
)

// followStep plays the set-up of a step and runs the step until Ctrl-C.
func (r *runner) followStep(ctx context.Context, p *player) error {
	p.lesson.Follow = true
	if _, err := p.setUp(ctx); err != nil {
		return err
	}
	p.out.show = p.show                                   // as it comes, even of several speakers
	p.out.name = func(line string) string { return line } // with the real namespace and address
	p.start(ctx)
	r.suggest(ctx, p)
	go r.takeActions(ctx, p)
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
func (r *runner) suggest(ctx context.Context, p *player) {
	if !p.want.played() {
		fmt.Fprintln(r.stdout, "This step returns by itself; there is nothing to try around it.")
		return
	}
	address := "ADDRESS"
	if strings.Contains(p.want.String(), address) {
		p.poll(ctx, p.quiet, func() bool { return p.lesson.servesAt() != "" })
		address = cmp.Or(p.lesson.servesAt(), address)
	}
	if p.hasFailed() {
		return // the error says why there is nothing to try
	}
	elsewhere, here := []string{"Try these in another terminal:"}, []string{"Type these here:"}
	for _, b := range p.want.blocks[1:] {
		if action, ok := strings.CutPrefix(b.command, "> "); ok {
			here = append(here, "  "+action)
		} else if line, ok := strings.CutPrefix(b.command, "$ "); ok {
			line = r.forAnotherTerminal(ctx, p.lesson.Cluster, line)
			elsewhere = append(elsewhere, "  "+strings.ReplaceAll(line, "ADDRESS", address))
		}
	}
	var text strings.Builder
	for _, part := range [][]string{elsewhere, here} {
		for i, line := range part {
			if len(part) > 1 && !slices.Contains(part[:i], line) {
				fmt.Fprintln(&text, line)
			}
		}
	}
	fmt.Fprintf(r.stdout, "%sCtrl-C ends it.\n", &text)
}

// fileFlag is the flag with a file of testdata.
var fileFlag = regexp.MustCompile(` -f (\S+)`)

// forAnotherTerminal returns a command that works in any folder, with what the player needs, and
// nothing else: not everybody has jq.
func (r *runner) forAnotherTerminal(ctx context.Context, cluster Cluster, line string) string {
	line, _, _ = strings.Cut(line, " | jq ")
	if cluster == nil {
		return line
	}
	line = strings.ReplaceAll(line, "NAMESPACE", cluster.Namespace())
	args, ok := strings.CutPrefix(line, "kubectl ")
	if !ok {
		return line
	}
	if err := cluster.FindKubectl(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintf(r.stderr, "kubectl: %v\n", err)
	}
	args = fileFlag.ReplaceAllStringFunc(args, func(flag string) string {
		file, err := cluster.File(r.chapter.Files, strings.TrimPrefix(flag, " -f "))
		if err != nil {
			return flag // kubectl says what is wrong
		}
		return " -f " + quote.Shell(file)
	})
	return cluster.KubectlCommand() + " " + args
}

// takeActions reads the names of actions, until there is no more to read.
func (r *runner) takeActions(ctx context.Context, p *player) {
	for line := range r.input {
		name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), ">"))
		if name == "" {
			continue
		}
		given, err := p.awaitAction(ctx, name, settling)
		if err == nil {
			_, err = p.call(ctx, given, p.quiet)
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(r.stderr, "> %s: %v\n", name, err)
		}
	}
}
