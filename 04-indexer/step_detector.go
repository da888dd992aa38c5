package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepDetector starts this program again, with client-go's mutation detector. Only the environment
// can switch the detector on. The new process changes an object that the detector has, and the
// detector ends the process.
func stepDetector(ctx context.Context, env *step.Env) error {
	if os.Getenv("KUBE_CACHE_MUTATION_DETECTOR") == "true" {
		detector := cache.NewCacheMutationDetector("pods")
		pod := newPod("ns1", "pod1", "l1")
		detector.AddObject(pod) // a shared informer does this with each object that it stores
		pod.Labels["app"] = "l2"
		stop := make(chan struct{})
		close(stop)
		detector.Run(stop) // it compares once, and panics; in an informer it compares every second
		return nil
	}

	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "# export KUBE_CACHE_MUTATION_DETECTOR=true")
	again := exec.CommandContext(ctx, self, "detector")
	again.Env = append(os.Environ(), "KUBE_CACHE_MUTATION_DETECTOR=true")
	output, err := again.CombinedOutput()
	for line := range strings.Lines(string(output)) {
		if strings.HasPrefix(line, "CACHE") || strings.HasPrefix(line, "panic:") {
			fmt.Fprint(env.Out, line)
		}
	}
	fmt.Fprintln(env.Out, "the program ends :", err)
	return ctx.Err()
}
