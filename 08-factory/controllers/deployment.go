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
)

const (
	namespace = "default"
	name      = "web"
	oldImage  = "registry.k8s.io/pause:3.10.1"
	newImage  = "registry.k8s.io/pause:3.10.2"
)

// app is how kubectl create deployment labels the Deployment and its pods.
var app = labels.Set{"app": name}

// A deployment is the one that this program is about, seen by a plain client.
type deployment struct {
	client kubernetes.Interface
	out    io.Writer
}

// A step is something to do or to wait for.
type step func(context.Context) error

// kubectl prints the command before it does what kubectl would.
func (d *deployment) kubectl(command string, do step) step {
	return func(ctx context.Context) error {
		fmt.Fprintln(d.out, "# kubectl", command)
		if err := do(ctx); err != nil {
			return fmt.Errorf("kubectl %s: %w", command, err)
		}
		return nil
	}
}

// alone is the Deployment without controllers. When a pod of no Deployment runs,
// scheduler and node have done their work, and the Deployment is as it was.
func (d *deployment) alone() []step {
	return []step{
		d.kubectl("create deployment "+name+" --image="+oldImage+" --replicas=3", d.create),
		d.kubectl("create serviceaccount default", d.createAccount),
		d.kubectl("run nettool --image="+newImage, d.runPod),
		d.wait("deployment", func(s snapshot) bool { return len(s.deployments) == 1 }),
	}
}

// life brings the Deployment up, scales it, rolls it and deletes it.
func (d *deployment) life(ours *manager) []step {
	settle := d.wait("deployment with as many pods as it should have", snapshot.settled)
	agree := func(ctx context.Context) error { return d.agree(ctx, ours) }
	image := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"pause","image":%q}]}}}}`, newImage)
	return []step{
		func(context.Context) error { return ours.show(d.out) },
		settle,
		d.kubectl("scale deployment "+name+" --replicas=5", d.patch(`{"spec":{"replicas":5}}`)),
		settle,
		d.kubectl("set image deployment "+name+" pause="+newImage, d.patch(image)),
		settle,
		agree,
		d.kubectl("delete deployment "+name, d.remove),
		d.wait("end of the deployment and all that it owned", snapshot.gone),
		agree,
	}
}

// create makes what kubectl create deployment makes.
func (d *deployment) create(ctx context.Context) error {
	web := &appsv1.Deployment{
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
	_, err := d.client.AppsV1().Deployments(namespace).Create(ctx, web, metav1.CreateOptions{})
	return err
}

// createAccount makes what every pod needs: without controllers there is none.
func (d *deployment) createAccount(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err := d.client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{})
	return err
}

func (d *deployment) runPod(ctx context.Context) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "nettool", Labels: map[string]string{"run": "nettool"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nettool", Image: newImage}}},
	}
	pods := d.client.CoreV1().Pods(namespace)
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
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

func (d *deployment) patch(change string) step {
	return func(ctx context.Context) error {
		_, err := d.client.AppsV1().Deployments(namespace).Patch(ctx, name, types.StrategicMergePatchType,
			[]byte(change), metav1.PatchOptions{})
		return err
	}
}

func (d *deployment) remove(ctx context.Context) error {
	background := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	return d.client.AppsV1().Deployments(namespace).Delete(ctx, name, background)
}

// agree waits until the informers' stores hold what the API server has: they
// get it a moment later.
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
