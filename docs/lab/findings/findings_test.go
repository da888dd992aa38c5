// Package findings shows the defects of client-go that docs/upstream.md reports, one
// in a test. A test that fails says that client-go has mended one.
package findings

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil // they log, and one of them sleeps by a real clock
	goleak.VerifyTestMain(m)
}

// mended ends a test whose finding is no longer so.
func mended(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Errorf("This is fixed: move its row to \"Fixed\" in docs/upstream.md. Now "+format, args...)
}
