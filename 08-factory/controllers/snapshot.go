// What the API server has of the Deployment, and waiting until that is as it
// should be.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	deploymentutil "k8s.io/kubernetes/pkg/controller/deployment/util"
)

const (
	lookEvery = 200 * time.Millisecond
	patience  = 2 * time.Minute // with each thing that is waited for
)

// A snapshot is the Deployment and what it owns, at about the same time.
type snapshot struct {
	deployments []appsv1.Deployment // one or none
	sets        []appsv1.ReplicaSet
	pods        []corev1.Pod // those being deleted too
}

func (d *deployment) look(ctx context.Context) (snapshot, error) {
	of := metav1.ListOptions{LabelSelector: app.String()}
	deployments, err := d.client.AppsV1().Deployments(namespace).List(ctx, of)
	if err != nil {
		return snapshot{}, fmt.Errorf("listing deployments: %w", err)
	}
	sets, err := d.client.AppsV1().ReplicaSets(namespace).List(ctx, of)
	if err != nil {
		return snapshot{}, fmt.Errorf("listing replica sets: %w", err)
	}
	pods, err := d.client.CoreV1().Pods(namespace).List(ctx, of)
	if err != nil {
		return snapshot{}, fmt.Errorf("listing pods: %w", err)
	}
	return snapshot{deployments.Items, sets.Items, pods.Items}, nil
}

// settled is true when the controllers have done all that the spec asks for,
// and the node too.
func (s snapshot) settled() bool {
	if len(s.deployments) == 0 {
		return false
	}
	web := &s.deployments[0]
	return deploymentutil.DeploymentComplete(web, &web.Status) && len(s.pods) == int(*web.Spec.Replicas)
}

func (s snapshot) gone() bool { return s.count() == counts{} }

func (s snapshot) count() counts { return counts{len(s.deployments), len(s.sets), len(s.pods)} }

// String has a line for the Deployment and one for each replica set, the oldest
// first.
func (s snapshot) String() string {
	owned := plural(len(s.sets), "replica set") + ", " + plural(len(s.pods), "pod")
	if len(s.deployments) == 0 {
		return fmt.Sprintf("deployment %s : gone : %s\n", name, owned)
	}
	web := s.deployments[0]
	if web.Status.ObservedGeneration == 0 {
		owned += ", seen by no controller"
	}
	lines := []string{fmt.Sprintf("deployment %s : %d of %d available : %s\n",
		name, web.Status.AvailableReplicas, *web.Spec.Replicas, owned)}
	for _, set := range s.sets {
		lines = append(lines,
			fmt.Sprintf("  revision %s : %s : %s\n", set.Annotations["deployment.kubernetes.io/revision"],
				set.Spec.Template.Spec.Containers[0].Image, plural(s.ownedBy(set), "pod")))
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "")
}

func (s snapshot) ownedBy(set appsv1.ReplicaSet) (pods int) {
	for _, pod := range s.pods {
		if metav1.IsControlledBy(&pod, &set) {
			pods++
		}
	}
	return pods
}

// counts are how many deployments, replica sets and pods there are.
type counts [3]int

func (c counts) String() string {
	return plural(c[0], "deployment") + ", " + plural(c[1], "replica set") + ", " + plural(c[2], "pod")
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// wait looks until done says that it is so, and prints what it saw then.
func (d *deployment) wait(what string, done func(snapshot) bool) step {
	return func(ctx context.Context) error {
		var seen snapshot
		err := until(ctx, what, func(ctx context.Context) (_ bool, _ any, err error) {
			seen, err = d.look(ctx)
			return err == nil && done(seen), seen, err
		})
		if err == nil {
			fmt.Fprint(d.out, seen)
		}
		return err
	}
}

// until asks until the answer is yes. If that takes too long, the error says
// which state was found last.
func until(ctx context.Context, what string, ask func(context.Context) (yes bool, state any, err error)) error {
	var state any
	err := wait.PollUntilContextTimeout(ctx, lookEvery, patience, true,
		func(ctx context.Context) (yes bool, err error) {
			yes, state, err = ask(ctx)
			return yes, err
		})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case wait.Interrupted(err):
		found := strings.ReplaceAll(strings.TrimSpace(fmt.Sprint(state)), "\n", ";")
		return fmt.Errorf("no %s after %s; there is: %s", what, patience, found)
	default:
		return fmt.Errorf("there is no %s yet, and looking for it failed: %w", what, err)
	}
}
