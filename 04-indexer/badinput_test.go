// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/steps/stepstest"
)

func TestWithoutACluster(t *testing.T) {
	for _, test := range []struct {
		args  []string
		code  int
		texts []string
	}{
		{[]string{"store"}, 0, nil},
		{[]string{"known"}, 1, []string{"no cluster chosen", "scripts/local-up.sh", "-kubeconfig"}},
		{[]string{"-follow"}, 1, []string{"no cluster chosen"}},
		{[]string{"indexes"}, 2, []string{`no step "indexes"`, "known, store, namespace,"}},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			stepstest.WantExit(t, stepstest.Outside(t, test.args...), test.code, test.texts...)
		})
	}
}

func TestKeepTakesTombstones(t *testing.T) {
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	pod := newPod("ns1", "pod1", "l1")
	must(t, store.Add(pod))
	old, err := keep(store, cache.Delta{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: "ns1/pod1"}})
	must(t, err)
	if old != any(pod) || len(store.List()) != 0 {
		t.Errorf("got %v, and %d objects left; want the pod that was stored, and none", old, len(store.List()))
	}
	if _, err := keep(store, cache.Delta{Type: cache.Added, Object: "no object"}); err == nil {
		t.Error("it kept what is no object")
	}
}

func TestAddKindRefusesWhatTheSchemeDoesNotKnow(t *testing.T) {
	for _, obj := range []any{"no object", unregistered{}} {
		if _, err := addKind(obj); err == nil {
			t.Errorf("it gave %T a kind", obj)
		}
	}
}

// unregistered is an object of no scheme.
type unregistered struct{ *corev1.Pod }
