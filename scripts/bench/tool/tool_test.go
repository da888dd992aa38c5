package tool_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"testing"

	"example.com/informer/scripts/bench/tool"
	"example.com/informer/scripts/bench/tool/tooltest"
)

// greeter says hello to somebody, but not to the devil, and not for long.
var greeter = tool.Tool[string]{
	Name: "greeter",
	Flags: func(all *flag.FlagSet) func() (string, error) {
		whom := all.String("whom", "you", "is greeted")
		all.String("o", "", "is not used")
		return func() (string, error) {
			if *whom == "" {
				return "", errors.New("-whom: somebody must be there")
			}
			return *whom, nil
		}
	},
	Measure: func(ctx context.Context, whom string, stdout, stderr io.Writer) error {
		fmt.Fprintln(stderr, "about to greet")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case whom == "the devil":
			return errors.New("not him")
		}
		fmt.Fprintln(stdout, "hello,", whom)
		return nil
	},
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{nil, 0, "hello, you\n", "about to greet\n"},
		{[]string{"-whom", "me"}, 0, "hello, me\n", "about to greet\n"},
		{[]string{"-whom", "the devil"}, 1, "", "about to greet\ngreeter: not him\n"},
		{[]string{"-whom", ""}, 2, "", "greeter: -whom: somebody must be there: -h names the flags\n"},
		{[]string{"me"}, 2, "", "greeter: it takes flags, and no arguments: -h names the flags\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := greeter.Run(t.Context(), test.args, &stdout, &stderr)
		if code != test.code || stdout.String() != test.stdout || stderr.String() != test.stderr {
			t.Errorf("%q: exit code %d, printed %q, said %q", test.args, code, &stdout, &stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := greeter.Run(t.Context(), []string{"-h"}, &stdout, &stderr); code != 0 || !bytes.Contains(stderr.Bytes(), []byte("is greeted")) {
		t.Errorf("exit code %d, said %q", code, &stderr)
	}
}

func TestStopped(t *testing.T) {
	tooltest.Stop(t, greeter, "")
	tooltest.Stop(t, greeter, "about to")
}

func TestRefused(t *testing.T) { tooltest.Refuse(t, greeter, "not defined: -loud", "-loud") }
