// Goroutines that are left when something has ended.

package must

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

// NoNewGoroutines fails if there is a goroutine that is not in before, which Goroutines has returned.
// Call it at the moment that a Run, Stop or Close returns: goleak would give the others almost half a
// second to end. A goroutine that waits for nothing, and only needs a processor to end, gets it here.
// A goroutine with one of the texts in except in its stack may stay.
//
// In a synctest bubble only the goroutines of the bubble count. Outside, no other test may run.
func NoNewGoroutines(t testing.TB, before sets.Set[string], except ...string) {
	t.Helper()
	except = append(except, "os/signal.signal_recv")
	for deadline := time.Now().Add(Patience); ; runtime.Gosched() {
		var left []string
		waits := false
		for id, g := range goroutines() {
			mayStay := func(text string) bool { return strings.Contains(g.stack, text) }
			if before.Has(id) || slices.ContainsFunc(except, mayStay) {
				continue
			}
			left = append(left, g.stack)
			waits = waits || g.state != "running" && g.state != "runnable"
		}
		if len(left) == 0 {
			return
		}
		if waits || time.Now().After(deadline) {
			t.Errorf("%d goroutines are left:\n\n%s", len(left), strings.Join(left, "\n\n"))
			return
		}
	}
}

// Goroutines returns the goroutines that there are.
func Goroutines() sets.Set[string] { return sets.KeySet(goroutines()) }

type goroutine struct{ state, stack string }

// header matches the first line of a stack: goroutine 7 [chan receive, 2 minutes, synctest bubble 5]:
var header = regexp.MustCompile(`^goroutine (\d+)[^\[]*\[([^],(]*)[^]]*?(synctest bubble \d+)?\]:`)

// goroutines returns all goroutines, or those of the synctest bubble that it is called in.
func goroutines() map[string]goroutine {
	buffer := make([]byte, 1<<20)
	n := runtime.Stack(buffer, true)
	for n == len(buffer) { // there may be more
		buffer = make([]byte, 2*n)
		n = runtime.Stack(buffer, true)
	}
	all := map[string]goroutine{}
	bubble := ""
	for i, stack := range strings.Split(strings.TrimSpace(string(buffer[:n])), "\n\n") {
		match := header.FindStringSubmatch(stack)
		if i == 0 {
			bubble = match[3] // the first goroutine is this one
		}
		if bubble == "" || match[3] == bubble {
			all[match[1]] = goroutine{state: strings.TrimSpace(match[2]), stack: stack}
		}
	}
	return all
}
