package main

import (
	"strings"
	"testing"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

func TestFollowEndsWellOnCtrlC(t *testing.T) {
	kubetest.Need(t)
	ctx, out := stepstest.CtrlCAt(t, 1)
	if err := chapter.Follow(ctx, out); err != nil {
		t.Errorf("-follow ends with %v, want no error", err)
	}
	if !strings.Contains(out.String(), "run nettool --image=") {
		t.Errorf("it printed %q, want what to try", out)
	}
}
