package main

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/step/steptest"
)

// TestMain runs the chapter, or a part of a test, where a test or the step
// detector has started this binary again.
func TestMain(m *testing.M) {
	steptest.Program(main)
	if run, ok := children[os.Getenv(child)]; ok {
		run()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "detector" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) { steptest.Run(t, chapter) }

// TestFollow runs a step with -follow, changes something, sees the event, and
// presses Ctrl-C.
func TestFollow(t *testing.T) {
	s := sessiontest.Open(t)
	cmd := steptest.Command(t, "known", "-follow")
	namespace, seen := "", false
	code := steptest.ReadLines(t, cmd, func(line string) {
		if _, rest, ok := strings.Cut(line, " -n "); ok && namespace == "" {
			namespace = strings.Fields(rest)[0]
			own := s.Namespace
			s.Namespace = namespace // of the step
			sessiontest.Kubectl(t, s, "run nettool --image=registry.k8s.io/pause:3.10.2")
			s.Namespace = own
		}
		if strings.HasPrefix(line, "Added : nettool") || strings.HasPrefix(line, "Sync : nettool") {
			seen = true
			must.Do(t, cmd.Process.Signal(os.Interrupt))
		}
	})
	if code != 0 || !seen {
		t.Errorf("exit code %d, want 0; the pod was seen: %t", code, seen)
	}
	ns, err := s.Client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || ns.DeletionTimestamp == nil) {
		t.Errorf("namespace %s is still there and not on its way out (error: %v)", namespace, err)
	}
}
