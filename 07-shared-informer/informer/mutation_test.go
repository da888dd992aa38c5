// KUBE_CACHE_MUTATION_DETECTOR, which client-go looks at when a program starts.

package informer

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

// mutates names, in the environment, the informer under test: this is not a
// test then, but a program that changes what it was given. harmless says that it
// does not.
const (
	mutates  = "INFORMER_TEST_MUTATES"
	harmless = "INFORMER_TEST_HARMLESS"
)

// mutate is that program. If it is harmless, it ends by itself after three looks of the detector
// at what its handler got. If not, the detector ends it, whenever it looks.
func mutate(newInformer maker, harmless bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	informer := newInformer(fakeapi.New(configMap("a", "1")), &corev1.ConfigMap{}, options())
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if harmless {
			time.AfterFunc(3*time.Second, cancel)
		} else {
			obj.(*corev1.ConfigMap).Data = map[string]string{"mine": "now"}
		}
	}})
	informer.RunWithContext(ctx)
}

func TestTheMutationDetectorFindsAHandlerThatChangesAnObject(t *testing.T) {
	for name := range implementations {
		for _, mild := range []string{"", "yes"} {
			t.Run(name+mild, func(t *testing.T) {
				t.Parallel()
				program := exec.CommandContext(t.Context(), os.Args[0])
				program.Env = append(os.Environ(), "KUBE_CACHE_MUTATION_DETECTOR=true", mutates+"="+name,
					harmless+"="+mild)
				out, err := program.CombinedOutput()
				found := strings.Contains(string(out), "CACHE *v1.ConfigMap[0] ALTERED!") &&
					strings.Contains(string(out), "panic: cache *v1.ConfigMap modified")
				if want := mild == ""; found != want || (err != nil) != want {
					t.Errorf("found: %t, ended with %v; want it found: %t\n%s", found, err, want, out)
				}
			})
		}
	}
}
