// What the steps share: an informer in the background, and the objects that
// they change under its eyes.

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
)

// start runs an informer in the background. It returns when the store holds
// the first list; stop ends the informer, and waits for its end.
func start(ctx context.Context, informer cache.SharedInformer) (stop func(), err error) {
	run, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(run)
	}()
	stop = func() { cancel(); <-ended }
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
		stop()
		return nil, ctx.Err()
	}
	return stop, nil
}

// An act is something that is done, and what the step prints when it has come
// to the handler's ears.
type act struct {
	do      func() error
	printed string
}

// play does one thing after the other, each when the one before was printed.
func play(ctx context.Context, s *kube.Session, acts ...act) error {
	for _, a := range acts {
		if err := a.do(); err != nil {
			return err
		}
		if err := s.WaitPrinted(ctx, a.printed); err != nil {
			return err
		}
	}
	return nil
}

// runPod creates a pod with the label app, and prints the command for it.
func runPod(ctx context.Context, s *kube.Session, name, app string) error {
	s.Printf("# kubectl run %s --image=%s --labels=app=%s\n", name, kube.PauseImage, app)
	_, err := s.Clientset.CoreV1().Pods(s.Namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: kube.PauseImage}}},
	}, metav1.CreateOptions{})
	return err
}

// labelPod gives a pod another label app, and prints the command for it.
func labelPod(ctx context.Context, s *kube.Session, name, app string) error {
	s.Printf("# kubectl label --overwrite pod %s app=%s\n", name, app)
	patch := fmt.Sprintf(`{"metadata":{"labels":{"app":"%s"}}}`, app)
	_, err := s.Clientset.CoreV1().Pods(s.Namespace).
		Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}
