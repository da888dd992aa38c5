package main

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/02-listwatch/kubetest"
)

var namespaceName = regexp.MustCompile(`informer-[a-z0-9]+`)

// TestFollow runs -follow, makes a pod, sees it in the index, and presses Ctrl-C.
func TestFollow(t *testing.T) {
	cluster := kubetest.Need(t)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-follow")
	cmd.Env = append(os.Environ(), runChapter+"=1")
	cmd.Stderr = t.Output()
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	namespace, shown := "", false
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		line := scanner.Text()
		t.Log(line)
		if namespace == "" && namespaceName.MatchString(line) {
			namespace = namespaceName.FindString(line)
			_, err := cluster.Clientset.CoreV1().Pods(namespace).Create(t.Context(), kube.GatedPod("waiting"), metav1.CreateOptions{})
			must(t, err)
		}
		if !shown && strings.HasPrefix(line, "image "+kube.PauseImage+" : "+namespace+"/waiting") {
			shown = true
			must(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	if err := cmd.Wait(); err != nil || !shown {
		t.Errorf("it ended with %v; the index was shown: %t", err, shown)
	}
	ns, err := cluster.Clientset.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || ns.DeletionTimestamp == nil) {
		t.Errorf("namespace %s is still there and not on its way out (error: %v)", namespace, err)
	}
}
