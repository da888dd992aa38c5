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
	for _, way := range ways {
		synctest.Test(t, func(t *testing.T) {
			pods := newSource(way.newFanout())
			if _, err := pods.join(cache.ResourceEventHandlerFuncs{}, processor.Options{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			wantGoroutines(t, 1, "(*Registration).run")
			if way.name == "our way" {
				wantGoroutines(t, 0, "(*channelListener).pump")
			} else {
				wantGoroutines(t, 1, "(*channelListener).pump")
			}
			pods.Stop()
		})
	}
}
