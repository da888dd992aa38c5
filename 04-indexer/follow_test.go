package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kube"
	"example.com/informer/02-listwatch/kubetest"
)

var namespaceName = regexp.MustCompile(`informer-[a-z0-9]+`)

// TestFollow runs -follow, makes a pod, sees it in the index, and presses Ctrl-C.
func TestFollow(t *testing.T) {
	cluster := kubetest.Need(t)
	cmd := stepstest.Command(t, "-follow")
	namespace, shown := "", false
	code := stepstest.ReadLines(t, cmd, func(line string) {
		if namespace == "" && namespaceName.MatchString(line) {
			namespace = namespaceName.FindString(line)
			_, err := cluster.Clientset.CoreV1().Pods(namespace).Create(t.Context(), kube.GatedPod("waiting"),
				metav1.CreateOptions{})
			must(t, err)
		}
		if !shown && strings.HasPrefix(line, "image "+kube.PauseImage+" : "+namespace+"/waiting") {
			shown = true
			must(t, cmd.Process.Signal(os.Interrupt))
		}
	})
	if code != 0 || !shown {
		t.Errorf("exit code %d, want 0; the index was shown: %t", code, shown)
	}
	ns, err := cluster.Clientset.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || ns.DeletionTimestamp == nil) {
		t.Errorf("namespace %s is still there and not on its way out (error: %v)", namespace, err)
	}
}
