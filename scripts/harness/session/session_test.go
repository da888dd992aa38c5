package session_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASessionIsReadyForPods(t *testing.T) {
	// The API server refuses it as long as there is no service account.
	sessiontest.Kubectl(t, sessiontest.Open(t), "run nettool --image=registry.k8s.io/pause:3.10.2")
}

func TestCloseRemovesTheNamespaceEvenAfterCtrlC(t *testing.T) {
	other := sessiontest.Open(t)
	s, err := session.Open(t.Context(), session.Options{Patience: sessiontest.Patience})
	must.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must.NoError(t, s.Close(ended))
	ns, err := other.Client.CoreV1().Namespaces().Get(t.Context(), s.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	must.NoError(t, err)
	if ns.DeletionTimestamp == nil {
		t.Errorf("the namespace %s has no deletionTimestamp after Close, want one", s.Namespace)
	}
}
