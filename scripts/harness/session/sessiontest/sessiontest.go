// Package sessiontest gives each test a namespace of its own on the cluster at
// hand, and cleans up after it.
package sessiontest

import (
	"os"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
)

// Patience is how long a test waits for an answer of the API server: the machine may be busy.
const Patience = time.Minute

// Open returns a session for a test that needs a cluster. With -short the test
// is left out; without a cluster it fails at once and says how to get one.
func Open(t *testing.T) *session.Session {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	s, err := session.Open(t.Context(), session.Options{Patience: Patience})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, s.Close(t.Context())) })
	return s
}

// Kubectl gives a kubectl command, without its first word, in the session's
// namespace. Files are those in the folder testdata of the test.
func Kubectl(t testing.TB, s *session.Session, line string) {
	t.Helper()
	words := strings.Fields(line)
	if _, err := s.Kubectl(t.Context(), os.DirFS("."), words[0], words[1:]...); err != nil {
		t.Fatalf("kubectl %s: %v", line, err)
	}
}
