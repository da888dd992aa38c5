// Tests of KUBE_CACHE_MUTATION_DETECTOR. client-go reads this variable when a program starts.

package informer_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// mutate runs an informer whose handler changes an object, unless it is harmless. A harmless handler
// ends the informer after three checks of the detector. If not, the detector ends the program at its
// first check.
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
	const inside = "INFORMER_TEST_MUTATES"
	for name, newInformer := range implementations {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(inside) != "" {
				mutate(newInformer, false)
				return
			}
			t.Parallel()
			out, err := must.RunInSubprocess(t, t.Name(), inside+"=yes", "KUBE_CACHE_MUTATION_DETECTOR=true")
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
			if os.Getenv(inside) != "" {
				mutate(newInformer, true)
				return
			}
			t.Parallel()
			out, err := must.RunInSubprocess(t, t.Name(), inside+"=yes", "KUBE_CACHE_MUTATION_DETECTOR=true")
			if err != nil {
				t.Errorf("the program ended with %v, want no error\n%s", err, out)
			}
		})
	}
}
