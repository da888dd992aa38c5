package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/step"
)

// stepPages reads a list in pages of two objects. All pages have the version of the first page,
// however long it takes to read them.
func stepPages(ctx context.Context, env *step.Env) error {
	configMaps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	options := metav1.ListOptions{Limit: 2}
	versions := map[string]bool{}
	for page := 1; page == 1 || options.Continue != ""; page++ {
		list, err := configMaps.List(ctx, options)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "page %d :", page)
		for _, configMap := range list.Items {
			fmt.Fprint(env.Out, " ", configMap.Name)
		}
		if list.RemainingItemCount != nil {
			fmt.Fprintf(env.Out, " : %d remain\n", *list.RemainingItemCount)
		} else {
			fmt.Fprintln(env.Out, " : the last")
		}
		options.Continue = list.Continue // where the next page begins
		versions[list.ResourceVersion] = true

		if page == 1 {
			late := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm-9-too-late"}}
			if _, err := configMaps.Create(ctx, late, metav1.CreateOptions{}); err != nil {
				return err
			}
			fmt.Fprintln(env.Out, "created :", late.Name)
		}
	}
	fmt.Fprintln(env.Out, "versions seen :", len(versions))
	return nil
}
