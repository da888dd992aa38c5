// Package findings shows the defects of client-go that docs/reference/upstream.md describes, with a
// test for each. A test fails when client-go has fixed the defect.
package findings

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil // they write to the log, and one of them sleeps, with the real clock
	goleak.VerifyTestMain(m)
}

// fixed fails a test because its defect is fixed. The message says what was observed instead of the
// defect.
func fixed(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Errorf("This is fixed: move its row to \"Fixed\" in docs/reference/upstream.md. Now "+format, args...)
}
