package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/step"
)

// stepClientset lists the ConfigMaps of a namespace as Go structs. The cluster creates one of them
// in every namespace, with its root certificate.
func stepClientset(ctx context.Context, env *step.Env) error {
	list, err := env.Client.CoreV1().ConfigMaps(env.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, configMap := range list.Items {
		// A certificate is long: 27 characters of each value are enough.
		fmt.Fprintf(env.Out, "name: %s, data: %.27q\n", configMap.Name, configMap.Data)
	}
	return nil
}
