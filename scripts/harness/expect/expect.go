// Package expect fails a test, and lets it go on, where something is not as it should be.
package expect

import "testing"

// That fails the test with this message, unless it is so.
func That(t testing.TB, so bool, format string, args ...any) {
	t.Helper()
	if !so {
		t.Errorf(format, args...)
	}
}
