// How long the mutation detector of client-go remembers an object.

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// The detector compares each object with its copy for two to four minutes after
// it has got it. It can only be switched on from outside, and it ends its program:
// this test starts itself again, once for each case.
func TestTheMutationDetectorRemembersAnObjectForMinutes(t *testing.T) {
	const detector, when = "KUBE_CACHE_MUTATION_DETECTOR", "CHANGE_WHEN"
	if change := os.Getenv(when); change != "" {
		addAfter, changeAfter, _ := strings.Cut(change, " ")
		added, err := time.ParseDuration(addAfter)
		must.Do(t, err)
		changed, err := time.ParseDuration(changeAfter)
		must.Do(t, err)
		synctest.Test(t, func(t *testing.T) { changeLater(t, added, changed) })
		return
	}
	self, err := os.Executable()
	must.Do(t, err)
	for change, found := range map[string]bool{
		"0s 4m":         true,
		"0s 4m10s":      false,
		"119500ms 110s": true, // just before the detector puts its list aside
		"119500ms 130s": false,
	} {
		again := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), detector+"=true", when+"="+change)
		output, err := again.CombinedOutput()
		if got := strings.Contains(string(output), "panic: cache pods modified"); got != found || got != (err != nil) {
			t.Errorf("%s: found: %t, want %t; it ended with %v and said:\n%s", change, got, found, err, output)
		}
	}
}

// changeLater gives the detector a pod, and changes the pod some time after that.
func changeLater(t *testing.T, added, changed time.Duration) {
	t.Helper()
	detector, stop := cache.NewCacheMutationDetector("pods"), make(chan struct{})
	go detector.Run(stop)
	time.Sleep(added)
	pod := newPod("ns1", "pod1", "l1")
	detector.AddObject(pod)
	time.Sleep(changed)
	synctest.Wait() // for the detector, which may be looking at the pod
	pod.Labels["app"] = "l2"
	time.Sleep(2 * time.Second) // it looks once a second
	close(stop)
}
