// Package kubetest gives each test a namespace of its own on the cluster at
// hand, and cleans up after it.
package kubetest

import (
	"context"
	"testing"

	"example.com/informer/02-listwatch/kube"
)

// Need marks a test that needs a cluster. With -short it is left out; without
// a cluster it fails at once and says how to get one.
func Need(t *testing.T) *kube.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	cluster, err := kube.Connect(t.Context(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// Open returns a session in a namespace of the test's own. What the session
// prints goes to the test's log.
func Open(t *testing.T) *kube.Session {
	t.Helper()
	s, err := Need(t).OpenSession(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}
