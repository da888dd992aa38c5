package main

import (
	"context"
	_ "embed"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"example.com/informer/02-listwatch/kube"
)

//go:embed deployment.yaml
var deploymentYAML []byte

// dynamic makes a Deployment with the client that knows no types: an object is
// a map, and the resource is named by group, version and plural.
func dynamic(ctx context.Context, s *kube.Session) error {
	var deployment unstructured.Unstructured
	if err := yaml.Unmarshal(deploymentYAML, &deployment); err != nil {
		return err
	}
	gvr := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	deployments := s.Dynamic.Resource(gvr).Namespace(s.Namespace)

	s.Printf("# kubectl create -f deployment.yaml\n")
	if _, err := deployments.Create(ctx, &deployment, metav1.CreateOptions{}); err != nil {
		return err
	}
	stored, err := deployments.Get(ctx, deployment.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := showDeployment(s, stored); err != nil {
		return err
	}

	s.Printf("# kubectl create -f deployment.yaml\n")
	_, err = deployments.Create(ctx, &deployment, metav1.CreateOptions{})
	s.Printf("once more: %s\n", apierrors.ReasonForError(err))

	s.Printf("# kubectl apply --server-side -f deployment.yaml\n")
	stored, err = deployments.Apply(ctx, deployment.GetName(), &deployment,
		metav1.ApplyOptions{FieldManager: "informer-course"})
	if err != nil {
		return err
	}
	return showDeployment(s, stored)
}

// showDeployment reads a field out of the map, by its path.
func showDeployment(s *kube.Session, obj *unstructured.Unstructured) error {
	replicas, found, err := unstructured.NestedInt64(obj.Object, "spec", "replicas")
	if err != nil || !found {
		return fmt.Errorf("reading spec.replicas (found: %t): %w", found, err)
	}
	s.Printf("%s %s %s: replicas %d, generation %d\n",
		obj.GetAPIVersion(), obj.GetKind(), obj.GetName(), replicas, obj.GetGeneration())
	return nil
}
