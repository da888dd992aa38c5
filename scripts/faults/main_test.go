package main

import (
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args, says string
		code       int
	}{
		{"-h", "-duration", 0},
		{"-only unicorn", "-only unicorn: no fault is called so (-h lists the flags)", 2},
		{"-only [", "-only: error parsing regexp", 2},
		{"-rate 0", "there must be changes", 2},
		{"-duration long", "invalid value", 2},
		{"now", "takes no arguments", 2},
	} {
		var stdout, stderr strings.Builder
		code := run(t.Context(), strings.Fields(test.args), &stdout, &stderr)
		if code != test.code || !strings.Contains(stderr.String(), test.says) || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", test.args, code, &stdout, &stderr)
		}
	}
}
