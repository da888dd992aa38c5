package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/step"
)

// stepLatewrites runs the controller of package notices, which leads now. The old leader has stood
// still, and sends its writes too late, about the copies as it has seen them.
func stepLatewrites(ctx context.Context, env *step.Env) error {
	defer removeFinalizers(env)
	configMaps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	seen := &corev1.ConfigMapList{} // what the old leader has in its cache
	env.On("the old leader stands still", func() {
		seen, _ = configMaps.List(ctx, metav1.ListOptions{
			FieldSelector: "metadata.name!=kube-root-ca.crt", // which every namespace has
		})
	})
	env.On("the old leader goes on", func() {
		report := func(write, name string, err error) {
			result := "done"
			if err != nil {
				result = string(apierrors.ReasonForError(err))
			}
			fmt.Fprintf(env.Out, "old : %s %s: %s\n", write, name, result)
		}
		for _, old := range seen.Items {
			switch old.Name {
			case "picnic-0": // it has changed since
				_, err := configMaps.Update(ctx, &old, metav1.UpdateOptions{}) // with the resourceVersion of then
				report("update", old.Name, err)
			case "picnic-1": // it was deleted and created since
				created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: old.Name}, Data: old.Data}
				_, err := configMaps.Create(ctx, created, metav1.CreateOptions{}) // with the same name
				report("create", old.Name, err)
			}
			err := configMaps.Delete(ctx, old.Name, metav1.DeleteOptions{ // as package notices does
				Preconditions: &metav1.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion},
			})
			report("delete", old.Name, err)
		}
	})
	ctx = klog.NewContext(ctx, logger(ctx, speaker{"new", env.Out}))
	return notices.Run(ctx, env.Config, env.Namespace, notices.Options{NewInformer: informer.Default.New})
}
