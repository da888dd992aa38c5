package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"example.com/informer/scripts/harness/step"
)

// stepDynamic creates a Deployment with the dynamic client, which uses no Go types. An object is a
// map. A resource has a group, a version and a plural name.
func stepDynamic(ctx context.Context, env *step.Env) error {
	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	text, err := files.ReadFile("testdata/deployment.yaml")
	if err != nil {
		return err
	}
	var web unstructured.Unstructured
	if err := yaml.Unmarshal(text, &web); err != nil {
		return err
	}
	gvr := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	deployments := client.Resource(gvr).Namespace(env.Namespace)

	created, err := deployments.Create(ctx, &web, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	replicas, _, err := unstructured.NestedInt64(created.Object, "spec", "replicas") // a field, by its path
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "create : %s %s %s : replicas %d\n",
		created.GetAPIVersion(), created.GetKind(), created.GetName(), replicas)
	_, err = deployments.Create(ctx, &web, metav1.CreateOptions{})
	fmt.Fprintln(env.Out, "create once more :", apierrors.ReasonForError(err))
	return nil
}
