// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/scripts/harness/step/steptest"
)

func TestWithoutACluster(t *testing.T) {
	for _, test := range []struct {
		args  []string
		code  int
		texts []string
	}{
		{[]string{"store"}, 0, nil},
		{[]string{"known"}, 1, []string{"no cluster chosen", "scripts/local-up.sh", "-kubeconfig"}},
		{[]string{"known", "-follow"}, 1, []string{"no cluster chosen"}},
		{[]string{"-follow"}, 2, []string{"-follow wants the name of one step"}},
		{[]string{"indexes"}, 2, []string{`no step "indexes"`, "known, store, namespace,"}},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			steptest.WantExit(t, steptest.Outside(t, test.args...), test.code, test.texts...)
		})
	}
}

func TestAddKindRefusesWhatTheSchemeDoesNotKnow(t *testing.T) {
	for _, obj := range []any{"no object", unregisteredPod{}} {
		if _, err := addKind(obj); err == nil {
			t.Errorf("it gave %T a kind", obj)
		}
	}
}

// An unregisteredPod is an object that no scheme knows.
type unregisteredPod struct{ *corev1.Pod }
