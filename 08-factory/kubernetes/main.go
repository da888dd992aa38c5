// Command kubernetes runs the controllers of Kubernetes on the informers of this workspace. It
// starts a control plane that has no other controllers. There a Deployment is created, scaled,
// updated to another image and deleted.
package main

import (
	"context"
	"embed"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = play.Chapter{
	Name:    "08-factory/kubernetes",
	Title:   "the controllers of Kubernetes, on our factory",
	Files:   files,
	Connect: startPlane,
	Steps: []play.Step{{
		Name: "controllers", Title: "the life of a Deployment", Run: stepControllers, Patience: 30 * time.Second,
	}},
}

func main() { play.Main(chapter) }

// stepControllers starts the controllers when the transcript says so, and runs them until ctx ends.
func stepControllers(ctx context.Context, env *play.Env) error {
	p := env.Cluster.(*plane)
	fmt.Fprintln(env.Out, "a control plane without controllers :", p.components())
	start := make(chan struct{})
	env.On("the controllers of Kubernetes start, on our factory", sync.OnceFunc(func() { close(start) }))
	select {
	case <-start:
	case <-ctx.Done():
		return ctx.Err()
	}
	// The garbage collector watches all types. With a dynamic client our factory refuses none of
	// them, so that all informers of the collector come from our factory.
	client, err := dynamic.NewForConfig(p.Config)
	if err != nil {
		return fmt.Errorf("making a dynamic client: %w", err)
	}
	ours := factory.New(p.Client, factory.Options{DefaultResync: resync, Transform: trim, Dynamic: client}).ClientGo()
	env.On("the stores of our informers are looked into", func() {
		for _, resource := range []schema.GroupVersionResource{factory.Deployments, factory.ReplicaSets, factory.Pods} {
			line, err := describeStore(ctx, ours, client, resource)
			if err != nil {
				line = err.Error()
			}
			fmt.Fprintln(env.Out, line)
		}
	})
	return runControllers(ctx, p.Config, p.Client, ours, p.Config.CAData)
}

// describeStore says how many objects of the Deployment an informer's store has. It waits until the
// store has as many as the API server, because the informer gets them a moment later.
func describeStore(ctx context.Context, ours informers.SharedInformerFactory, client dynamic.Interface,
	resource schema.GroupVersionResource) (line string, err error) {
	shared, err := ours.ForResource(resource)
	if err != nil {
		return "", err
	}
	app := labels.Set{"app": "web"}
	options := metav1.ListOptions{LabelSelector: app.String()}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			served, err := client.Resource(resource).Namespace(namespace).List(ctx, options)
			if err != nil {
				return false, err
			}
			stored, err := shared.Lister().ByNamespace(namespace).List(app.AsSelector())
			line = fmt.Sprintf("%s : %d in our %T", resource.Resource, len(stored), shared.Informer())
			return len(stored) == len(served.Items), err
		})
	return line, err
}
