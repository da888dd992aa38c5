// Package sessiontest opens a session for a test, with a namespace of its own on the cluster that
// the user has chosen, and closes it after the test.
package sessiontest

import (
	"os"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
)

// Patience is how long a test waits for an answer of the API server. The machine may be busy.
const Patience = time.Minute

// Open returns a session for a test that needs a cluster. With -short the test is skipped. Without
// a cluster it fails immediately, and the error says how to get a cluster.
func Open(t *testing.T) *session.Session {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	s, err := session.Open(t.Context(), session.Options{Patience: Patience})
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, s.Close(t.Context())) })
	return s
}

// Kubectl runs a kubectl command in the session's namespace. line is the command without the word
// kubectl. Its files are in the folder testdata of the test.
func Kubectl(t testing.TB, s *session.Session, line string) {
	t.Helper()
	words := strings.Fields(line)
	if _, err := s.Kubectl(t.Context(), os.DirFS("."), words[0], words[1:]...); err != nil {
		t.Fatalf("kubectl %s: %v", line, err)
	}
}
