package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/informer/scripts/harness/step"
)

// stepApply applies a Deployment twice. The first time, the server creates the Deployment. The
// second time, it changes nothing.
func stepApply(ctx context.Context, env *step.Env) error {
	text, err := files.ReadFile("testdata/deployment.yaml")
	if err != nil {
		return err
	}
	for range 2 {
		web, err := env.Client.AppsV1().Deployments(env.Namespace).Patch(ctx, "web", types.ApplyPatchType, text,
			metav1.PatchOptions{FieldManager: "informer-course"}) // the manager that owns the fields
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "apply : %s : generation %d\n", web.Name, web.Generation)
	}
	return nil
}
