package main

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"example.com/informer/scripts/harness/step/play"
)

// callsOf is the output of a step. It checks that the goroutine of a registration prints the calls
// of its handler.
type callsOf struct {
	io.Writer
	t *testing.T
}

func (c callsOf) Write(line []byte) (int, error) {
	stack := make([]byte, 1<<16)
	stack = stack[:runtime.Stack(stack, false)]
	if bytes.HasPrefix(line, []byte("On")) && !bytes.Contains(stack, []byte("processor.(*Registration).run")) {
		c.t.Errorf("the goroutine of the registration does not make this call: %s", line)
	}
	return c.Writer.Write(line)
}

// Each handler that joins gets the present pods itself, and nobody gets them a second time.
func TestTwoHandlersJoinLate(t *testing.T) {
	twice := play.Chapter{
		Name: chapter.Name,
		Steps: []play.Step{{Name: "late", Run: func(ctx context.Context, l *play.Lesson) error {
			l.Out = callsOf{l.Out, t}
			return stepLate(ctx, l)
		}}},
		Files: fstest.MapFS{"testdata/late.txt": {Data: []byte(strings.Join([]string{
			"> pod1 is created, and begins to run",
			"> a handler joins",
			"OnAdd : pod1 : Running (initial list: true)",
			"the handler has synced",
			"> a handler joins",
			"OnAdd : pod1 : Running (initial list: true)",
			"the handler has synced",
			"",
		}, "\n"))}},
	}
	synctest.Test(t, func(t *testing.T) {
		if err := twice.CheckStep(t.Context(), "late", time.Minute, func(string) {}); err != nil {
			t.Error(err)
		}
	})
}
