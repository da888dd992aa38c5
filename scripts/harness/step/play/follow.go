// Interactive mode, the flag -follow: the step runs until Ctrl-C, and the user types the commands.

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

// followStep plays the set-up of a step, and runs the step until Ctrl-C.
func (r *runner) followStep(ctx context.Context, p *player) error {
	p.env.Follow = true
	if _, err := p.setUp(ctx); err != nil {
		return err
	}
	p.out.normalize = func(line string) string { return line } // with the real namespace and address
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

// suggest prints what the user can try: the commands of the transcript, with this namespace and
// this address. It prints each of them once.
func (r *runner) suggest(ctx context.Context, p *player) {
	if !p.want.hasCommands() {
		p.report(event{Event: noteEvent, Text: "This step returns by itself; there is nothing to try around it."})
		return
	}
	address := "ADDRESS"
	if strings.Contains(p.want.String(), address) {
		p.poll(ctx, p.patience, func() bool { return p.env.serverAddress() != "" })
		address = cmp.Or(p.env.serverAddress(), address)
	}
	if p.hasFailed() {
		return // the error says why there is nothing to try
	}
	var commands, actions []string
	for _, b := range p.want.blocks[1:] {
		if action, ok := strings.CutPrefix(b.command, actionPrefix); ok {
			actions = appendNew(actions, action)
		}
		if line, ok := strings.CutPrefix(b.command, commandPrefix); ok {
			line = r.forAnotherTerminal(p, line)
			commands = appendNew(commands, strings.ReplaceAll(line, "ADDRESS", address))
		}
	}
	p.report(event{Event: noteEvent, Text: suggestions("Try these in another terminal:", commands) +
		suggestions("Type these here:", actions) + "Ctrl-C ends it."})
}

// appendNew appends a line, unless it is among the lines already.
func appendNew(lines []string, line string) []string {
	if slices.Contains(lines, line) {
		return lines
	}
	return append(lines, line)
}

// suggestions returns lines below a heading, or "" if there are no lines.
func suggestions(heading string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("%s\n  %s\n", heading, strings.Join(lines, "\n  "))
}

// fileFlag is the flag with a file of testdata.
var fileFlag = regexp.MustCompile(` -f (\S+)`)

// forAnotherTerminal returns a command that works in any folder. It leaves jq out, because not
// everybody has jq.
func (r *runner) forAnotherTerminal(p *player, line string) string {
	cluster := p.env.Cluster
	line, _, _ = strings.Cut(line, " | jq ")
	if cluster == nil {
		return line
	}
	line = strings.ReplaceAll(line, "NAMESPACE", cluster.Namespace())
	args, ok := strings.CutPrefix(line, "kubectl ")
	if !ok {
		return line
	}
	if err := cluster.FindKubectl(); err != nil {
		p.report(event{Event: warningEvent, Text: fmt.Sprintf("kubectl: %v", err)})
	}
	args = fileFlag.ReplaceAllStringFunc(args, func(flag string) string {
		file, err := cluster.File(r.chapter.Files, strings.TrimPrefix(flag, " -f "))
		if err != nil {
			return flag // kubectl will say what is wrong
		}
		return " -f " + quote.Shell(file)
	})
	return cluster.KubectlCommand() + " " + args
}

// takeActions reads the names of actions from the input, and calls the actions, until the input
// ends. followStep leaves it behind, as readLines does with its goroutine: the program ends next.
func (r *runner) takeActions(ctx context.Context, p *player) {
	for line := range r.input {
		name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), ">"))
		if name == "" {
			continue
		}
		if err := p.callAction(ctx, name); err != nil && ctx.Err() == nil {
			p.report(event{Event: warningEvent, Text: fmt.Sprintf("> %s: %v", name, err)})
		}
	}
}

func (p *player) callAction(ctx context.Context, name string) error {
	action, err := p.awaitAction(ctx, name, settleTimeout)
	if err != nil {
		return err
	}
	_, err = p.call(ctx, action, p.patience)
	return err
}
