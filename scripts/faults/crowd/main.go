// Command crowd has 64 clients read the pages of chapters 07 and 08, and the
// same straight from the API server, while objects change hundreds of times a
// second. It judges every answer, and prints how long they took.
//
//	scripts/crowd.sh [-duration 30s] [-objects N] [-rate N] [-o FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"example.com/informer/scripts/bench/tool"
)

var program = tool.Tool[options]{Name: "crowd", Flags: flags, Measure: measure}

func main() { program.Main() }

type options struct {
	duration      time.Duration
	objects, rate int
	file          string // where the table goes, besides stdout; empty: nowhere
}

func flags(all *flag.FlagSet) func() (options, error) {
	var o options
	all.DurationVar(&o.duration, "duration", 30*time.Second, "how long each of the four is asked")
	all.IntVar(&o.objects, "objects", 500, "how many pods there are in each of two namespaces")
	all.IntVar(&o.rate, "rate", 300, "changes a second, in both together, if the API server keeps up")
	all.StringVar(&o.file, "o", "", "a `file` for the table, besides printing it")
	return func() (options, error) {
		if o.duration <= 0 || o.objects <= 0 || o.rate <= 0 {
			return o, errors.New("a duration and numbers are positive")
		}
		if o.file != "" {
			if _, err := os.Stat(filepath.Dir(o.file)); err != nil { // better now than in two minutes
				return o, fmt.Errorf("-o %s: %w", o.file, err)
			}
		}
		return o, nil
	}
}

// measure runs the crowd, prints the table and writes it.
func measure(ctx context.Context, o options, stdout, stderr io.Writer) error {
	out, err := (&crowd{options: o, progress: stderr}).run(ctx)
	if err != nil {
		return err
	}
	text := out.table(time.Now().Format(time.DateOnly))
	fmt.Fprint(stdout, text)
	if o.file != "" {
		if err := os.WriteFile(o.file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if n := out.wrongs(); n > 0 {
		for _, err := range out.errs {
			fmt.Fprintln(stderr, err)
		}
		return fmt.Errorf("%d answers were wrong: see above", n)
	}
	return nil
}
