// The pods that steps run, watch and delete.

package kube

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// PauseImage does nothing, is on every kind node already, and ends at once
// when it is asked to.
const PauseImage = "registry.k8s.io/pause:3.10.2"

// Pods lists and watches the pods of the session's namespace.
func (s *Session) Pods() *cache.ListWatch {
	return cache.NewListWatchFromClient(s.Clientset.CoreV1().RESTClient(), "pods", s.Namespace, fields.Everything())
}

// RunPod creates a pod as kubectl run would, and prints that command.
func (s *Session) RunPod(ctx context.Context, name string) error {
	s.Printf("# kubectl run %s --image=%s\n", name, PauseImage)
	_, err := s.Clientset.CoreV1().Pods(s.Namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"run": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: PauseImage}}},
	}, metav1.CreateOptions{})
	return err
}

// GatedPod is a pod that no scheduler takes: it stays Pending, and nothing
// changes it.
func GatedPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}},
			Containers:      []corev1.Container{{Name: name, Image: PauseImage}},
		},
	}
}

// CreateGatedPod creates such a pod, and prints a command for it.
func (s *Session) CreateGatedPod(ctx context.Context, name string) error {
	s.Printf("# kubectl create -f %s.yaml, a pod that no scheduler takes\n", name)
	_, err := s.Clientset.CoreV1().Pods(s.Namespace).Create(ctx, GatedPod(name), metav1.CreateOptions{})
	return err
}

// DeletePod deletes a pod as kubectl delete would, and prints that command.
// It does not wait until the pod is gone.
func (s *Session) DeletePod(ctx context.Context, name string) error {
	s.Printf("# kubectl delete pod %s\n", name)
	return s.Clientset.CoreV1().Pods(s.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
}

// podTimeout is how long a pod may take to run, or to go.
const podTimeout = 2 * time.Minute

// WaitRunning waits until the API server says that the pod runs.
func (s *Session) WaitRunning(ctx context.Context, name string) error {
	return s.waitForPod(ctx, name, "run", func(pod *corev1.Pod) bool {
		return pod != nil && pod.Status.Phase == corev1.PodRunning
	})
}

// WaitGone waits until the API server no longer has the pod.
func (s *Session) WaitGone(ctx context.Context, name string) error {
	return s.waitForPod(ctx, name, "go", func(pod *corev1.Pod) bool { return pod == nil })
}

// waitForPod asks for the pod, nil if there is none, until it is as wanted.
func (s *Session) waitForPod(ctx context.Context, name, what string, done func(*corev1.Pod) bool) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, podTimeout, true,
		func(ctx context.Context) (bool, error) {
			pod, err := s.Clientset.CoreV1().Pods(s.Namespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return done(nil), nil
			}
			return err == nil && done(pod), err
		})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return s.podTooSlow(name, what)
	}
	return err
}

func (s *Session) podTooSlow(name, what string) error {
	return fmt.Errorf("pod %s did not %s within %v: to see why, %s describe pod %s",
		name, what, podTimeout, s.Kubectl(), name)
}

// PodLife runs a pod and deletes it once the step has printed that it runs
// ("NAME : Running"); it returns when the pod is gone from the server.
func (s *Session) PodLife(ctx context.Context, name string) error {
	if err := s.RunPod(ctx, name); err != nil {
		return err
	}
	running, cancel := context.WithTimeoutCause(ctx, podTimeout, s.podTooSlow(name, "run"))
	defer cancel()
	if err := s.WaitPrinted(running, name+" : Running"); err != nil {
		return err
	}
	if err := s.DeletePod(ctx, name); err != nil {
		return err
	}
	return s.WaitGone(ctx, name)
}
