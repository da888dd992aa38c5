// The Deployment's life: what is done to it, as kubectl would, and what is
// printed about it.

package main

import (
	"context"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	namespace = "default"
	name      = "web"
	oldImage  = "registry.k8s.io/pause:3.10.1"
	newImage  = "registry.k8s.io/pause:3.10.2"
)

// app is how kubectl create deployment labels the Deployment and its pods.
var app = labels.Set{"app": name}

// deployment is the one that it is all about, seen by a plain client.
type deployment struct {
	client kubernetes.Interface
	out    io.Writer
}

func newDeployment(config *rest.Config, out io.Writer) (*deployment, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100 // it looks a few times a second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &deployment{client, out}, nil
}

// alone creates the Deployment and then a pod. When the pod runs, scheduler and
// node have done their work, and the Deployment is as it was.
func (d *deployment) alone(ctx context.Context) error {
	d.kubectl("create deployment %s --image=%s --replicas=3", name, oldImage)
	if _, err := d.client.AppsV1().Deployments(namespace).Create(ctx, manifest(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the deployment: %w", err)
	}
	if err := d.runPod(ctx); err != nil {
		return err
	}
	seen, err := d.look(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(d.out, seen)
	return nil
}

// runPod runs a pod of no Deployment, and first makes the service account that
// every pod needs: without controllers there is none.
func (d *deployment) runPod(ctx context.Context) error {
	d.kubectl("create serviceaccount default")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := d.client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the service account that a pod needs: %w", err)
	}
	d.kubectl("run nettool --image=%s", newImage)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "nettool", Labels: map[string]string{"run": "nettool"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nettool", Image: newImage}}},
	}
	pods := d.client.CoreV1().Pods(namespace)
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a pod: %w", err)
	}
	err := until(ctx, "pod that runs", func(ctx context.Context) (bool, any, error) {
		pod, err := pods.Get(ctx, "nettool", metav1.GetOptions{})
		if err != nil {
			return false, nil, err
		}
		return pod.Status.Phase == corev1.PodRunning, pod.Status.Phase, nil
	})
	if err == nil {
		fmt.Fprintln(d.out, "pod nettool : Running")
	}
	return err
}

// life brings the Deployment up, scales it, rolls it and deletes it.
func (d *deployment) life(ctx context.Context, ours *manager) error {
	if err := d.settle(ctx); err != nil {
		return err
	}
	d.kubectl("scale deployment %s --replicas=5", name)
	if err := d.patch(ctx, `{"spec":{"replicas":5}}`); err != nil {
		return err
	}
	d.kubectl("set image deployment %s pause=%s", name, newImage)
	change := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"pause","image":%q}]}}}}`, newImage)
	if err := d.patch(ctx, change); err != nil {
		return err
	}
	if err := d.agree(ctx, ours); err != nil {
		return err
	}
	d.kubectl("delete deployment %s", name)
	background := metav1.DeletePropagationBackground
	err := d.client.AppsV1().Deployments(namespace).Delete(ctx, name,
		metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		return fmt.Errorf("deleting the deployment: %w", err)
	}
	if err := d.wait(ctx, "end of the deployment and all that it owned", sight.gone); err != nil {
		return err
	}
	return d.agree(ctx, ours)
}

// patch changes the Deployment and waits until that is done.
func (d *deployment) patch(ctx context.Context, change string) error {
	_, err := d.client.AppsV1().Deployments(namespace).Patch(ctx, name, types.StrategicMergePatchType, []byte(change),
		metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("changing the deployment with %s: %w", change, err)
	}
	return d.settle(ctx)
}

func (d *deployment) settle(ctx context.Context) error {
	return d.wait(ctx, "deployment with as many pods as it should have", sight.settled)
}

// agree waits until the informers' stores hold what the API server has: they
// hear of it a moment later.
func (d *deployment) agree(ctx context.Context, ours *manager) error {
	seen, err := d.look(ctx)
	if err != nil {
		return err
	}
	var held counts
	err = until(ctx, "informers that hold "+seen.count().String(), func(context.Context) (_ bool, _ any, err error) {
		held, err = ours.hold()
		return held == seen.count(), held, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "our informers hold : %s\n", held)
	return nil
}

func (d *deployment) kubectl(format string, args ...any) {
	fmt.Fprintf(d.out, "# kubectl "+format+"\n", args...)
}

// manifest is what kubectl create deployment makes.
func manifest() *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: app},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: oldImage}}},
			},
		},
	}
}
