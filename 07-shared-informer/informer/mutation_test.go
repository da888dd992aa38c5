// Tests of KUBE_CACHE_MUTATION_DETECTOR. client-go reads this variable when a program starts.

package informer_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
)

// mutates and harmless are environment variables. If mutates names an implementation, the test
// binary is a program whose handler changes an object. With harmless, the handler does not change
// it.
const (
	mutates  = "INFORMER_TEST_MUTATES"
	harmless = "INFORMER_TEST_HARMLESS"
)

// mutate is that program. A harmless program ends after three checks of the detector. If not, the
// detector ends the program at its first check.
func mutate(newInformer maker, harmless bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	shared := newInformer(fakeapi.New(configMap("a", "1")), &corev1.ConfigMap{}, options())
	_, _ = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if harmless {
			time.AfterFunc(3*time.Second, cancel)
		} else {
			obj.(*corev1.ConfigMap).Data = map[string]string{"mine": "now"}
		}
	}})
	shared.RunWithContext(ctx)
}

func TestTheMutationDetectorFindsAHandlerThatChangesAnObject(t *testing.T) {
	for name := range implementations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runMutating(t, mutates+"="+name)
			if err == nil {
				t.Error("the program ended without an error, want a panic of the detector")
			}
			for _, want := range []string{"CACHE *v1.ConfigMap[0] ALTERED!", "panic: cache *v1.ConfigMap modified"} {
				if !strings.Contains(out, want) {
					t.Errorf("the output does not contain %q:\n%s", want, out)
				}
			}
		})
		t.Run(name+", harmless", func(t *testing.T) {
			t.Parallel()
			if out, err := runMutating(t, mutates+"="+name, harmless+"=yes"); err != nil {
				t.Errorf("the program ended with %v, want no error\n%s", err, out)
			}
		})
	}
}

// runMutating runs the test binary as the program that mutate describes.
func runMutating(t *testing.T, variables ...string) (output string, err error) {
	t.Helper()
	program := exec.CommandContext(t.Context(), os.Args[0])
	program.Env = append(os.Environ(), "KUBE_CACHE_MUTATION_DETECTOR=true")
	program.Env = append(program.Env, variables...)
	out, err := program.CombinedOutput()
	return string(out), err
}
