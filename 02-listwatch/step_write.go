package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"example.com/informer/scripts/harness/step"
)

// stepWrite creates, updates and deletes a ConfigMap. An update contains the version that the
// client has read. If the object has a newer version, the server refuses the update.
func stepWrite(ctx context.Context, env *step.Env) error {
	configMaps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	colours := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "colours"}, Data: map[string]string{"sky": "blue"}}
	first, err := configMaps.Create(ctx, colours, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "create :", first.Data)

	evening := first.DeepCopy()
	evening.Data["sky"] = "red"
	updated, err := configMaps.Update(ctx, evening, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "update :", updated.Data)

	first.Data["grass"] = "green" // first still has a blue sky, and the version of that time
	_, err = configMaps.Update(ctx, first, metav1.UpdateOptions{})
	fmt.Fprintln(env.Out, "update from the first version :", apierrors.ReasonForError(err))

	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		newest, err := configMaps.Get(ctx, "colours", metav1.GetOptions{})
		if err != nil {
			return err
		}
		newest.Data["grass"] = "green"
		updated, err = configMaps.Update(ctx, newest, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "get, and update :", updated.Data)

	if err := configMaps.Delete(ctx, "colours", metav1.DeleteOptions{}); err != nil {
		return err
	}
	err = configMaps.Delete(ctx, "colours", metav1.DeleteOptions{})
	fmt.Fprintln(env.Out, "delete once more :", apierrors.ReasonForError(err))
	return nil
}
