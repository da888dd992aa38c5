package main

import (
	"os"
	"regexp"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kube"
	"example.com/informer/02-listwatch/kubetest"
)

// TestFollow runs -follow, makes a pod, sees it in the index, and presses Ctrl-C.
func TestFollow(t *testing.T) {
	cluster := kubetest.Need(t)
	out, cmd := &stepstest.Terminal{}, stepstest.Command(t, "-follow")
	cmd.Stdout, cmd.Stderr = out, t.Output()
	must(t, cmd.Start())
	namespace := out.Await(t, regexp.MustCompile(`informer-[a-z0-9]+`))
	_, err := cluster.Clientset.CoreV1().Pods(namespace).Create(t.Context(), kube.GatedPod("waiting"),
		metav1.CreateOptions{})
	must(t, err)
	out.Await(t, regexp.MustCompile("(?m)^image "+kube.PauseImage+" : "+namespace+"/waiting"))
	must(t, cmd.Process.Signal(os.Interrupt))
	must(t, cmd.Wait())
	ns, err := cluster.Clientset.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || ns.DeletionTimestamp == nil) {
		t.Errorf("namespace %s is still there and not on its way out (error: %v)", namespace, err)
	}
}
