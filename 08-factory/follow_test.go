package main

import (
	"context"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/steptest"
)

var ownURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

func TestFollowServesUntilCtrlC(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	cmd := steptest.Command(t, "http", "-follow", "-addr", "127.0.0.1:0")
	cmd.Stdin = strings.NewReader("> the factory starts\n")
	asked := false
	code := steptest.ReadLines(t, cmd, func(line string) {
		url := ownURL.FindString(line)
		if url == "" || asked {
			return
		}
		asked = true
		defer func() { must.Do(t, cmd.Process.Signal(syscall.SIGINT)) }()
		if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true,
			func(ctx context.Context) (bool, error) {
				status, _, err := get(ctx, url+"/readyz")
				return err == nil && status == 200, nil
			}); err != nil {
			t.Errorf("waiting until it is ready: %v", err)
		}
		if status, body, err := get(t.Context(), url+"/"); status != 200 || body != "[]\n" || err != nil {
			t.Errorf("%d %s %v, want no pods", status, body, err)
		}
	})
	if code != 0 || !asked {
		t.Errorf("exit code %d, it said where it serves: %t", code, asked)
	}
}
