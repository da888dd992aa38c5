package main

import (
	"os"
	"regexp"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

// interrupt runs the chapter until it prints a text that matches, presses
// Ctrl-C, and returns the exit code and what matched.
func interrupt(t *testing.T, text *regexp.Regexp, args ...string) (code int, match string) {
	t.Helper()
	out, cmd := &stepstest.Terminal{}, stepstest.Command(t, args...)
	cmd.Stdout, cmd.Stderr = out, t.Output()
	must(t, cmd.Start())
	match = out.Await(t, text)
	must(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // the exit code says it all
	return cmd.ProcessState.ExitCode(), match
}

func TestFollowEndsWellOnCtrlCAndCleansUp(t *testing.T) {
	cluster := kubetest.Need(t)
	code, namespace := interrupt(t, regexp.MustCompile(`informer-[a-z0-9]+`), "-follow")
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	ns, err := cluster.Clientset.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || ns.DeletionTimestamp == nil) {
		t.Errorf("namespace %s is still there and not on its way out (error: %v)", namespace, err)
	}
}

func TestCtrlCStopsAStep(t *testing.T) {
	kubetest.Need(t)
	if code, _ := interrupt(t, regexp.MustCompile(`(?m)^ADDED`), "watch"); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
