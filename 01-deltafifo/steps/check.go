// The comparison of what a step prints with what is expected of it.

package steps

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Collapse returns text with each run of identical lines folded into one: a
// kubelet repeats itself, and how often varies.
func Collapse(text string) string {
	lines := slices.Compact(strings.Split(text, "\n"))
	return strings.Join(lines, "\n")
}

// difference describes where got first differs from want, both collapsed; it is
// empty when they do not differ.
func difference(want, got string) string {
	want, got = Collapse(want), Collapse(got)
	if want == got {
		return ""
	}
	wantLines, gotLines := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(wantLines) && i < len(gotLines) && wantLines[i] == gotLines[i] {
		i++
	}
	return fmt.Sprintf("differs at line %d\n  expected: %s\n  printed:  %s",
		i+1, lineAt(wantLines, i), lineAt(gotLines, i))
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "(nothing more)"
	}
	return fmt.Sprintf("%q", lines[i])
}

// check runs the steps, shows and compares their outputs, and ends with a
// line that counts them. A step that fails does not keep the rest from running.
func (c Chapter) check(ctx context.Context, selected []Step, stdout, stderr io.Writer) int {
	good := 0
	for _, step := range selected {
		c.heading(step, stdout)
		file, err := c.expected(step)
		if err == nil {
			err = step.Check(ctx, file, stdout)
		}
		if ctx.Err() != nil {
			return c.exitCode(ctx, ctx.Err(), stderr)
		}
		if err != nil {
			fmt.Fprintf(stderr, "%s: step %s: %v\n", c.Name, step.Name, err)
			continue
		}
		good++
	}
	fmt.Fprintf(stdout, "\n%s: %d of %d steps as expected\n", c.Name, good, len(selected))
	if good < len(selected) {
		return exitFailed
	}
	return exitOK
}

// Check runs the step, shows what it prints, and compares that with the file of
// what is expected.
func (s Step) Check(ctx context.Context, file string, out io.Writer) error {
	want, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the expected output: %w", err)
	}
	var got bytes.Buffer
	if err := s.Run(ctx, io.MultiWriter(out, &got)); err != nil {
		return err
	}
	if diff := difference(string(want), got.String()); diff != "" {
		return fmt.Errorf("the output %s", diff)
	}
	return nil
}
