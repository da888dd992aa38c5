package main

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

// wantGoroutines wants that n goroutines are in each of these functions.
func wantGoroutines(t *testing.T, n int, functions ...string) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, function := range functions {
		if got := strings.Count(string(stacks), function+"("); got != n {
			t.Errorf("%d goroutines are in %s, want %d", got, function, n)
		}
	}
}

func TestAHandlerHasTwoGoroutinesInClientGosWayAndOneInOurs(t *testing.T) {
	for _, test := range []struct {
		newFanout func() processor.Fanout
		pops      int
	}{{processor.NewChannels, 1}, {func() processor.Fanout { return processor.NewLog() }, 0}} {
		synctest.Test(t, func(t *testing.T) {
			p := processor.New(test.newFanout())
			p.Start()
			defer p.Stop()
			if _, err := p.Add(cache.ResourceEventHandlerFuncs{}, processor.Options{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			wantGoroutines(t, 1, "(*Registration).run")
			wantGoroutines(t, test.pops, "(*channelListener).pop")
		})
	}
}
