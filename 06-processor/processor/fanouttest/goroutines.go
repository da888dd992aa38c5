// A check of the goroutines that there are.

package fanouttest

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// WantGoroutines checks that n goroutines of the synctest bubble are in each of these functions.
func WantGoroutines(t *testing.T, n int, functions ...string) {
	t.Helper()
	buffer := make([]byte, 1<<20)
	stacks := strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n")
	inBubble := slices.DeleteFunc(stacks, func(stack string) bool { // a goroutine of another test may still run
		header, _, _ := strings.Cut(stack, "\n")
		return !strings.Contains(header, "synctest bubble")
	})
	for _, function := range functions {
		got := strings.Count(strings.Join(inBubble, "\n"), function+"(")
		if got != n {
			t.Errorf("%d goroutines are in %s, want %d", got, function, n)
		}
	}
}
