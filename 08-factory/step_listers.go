package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepListers asks the listers of five types about a Deployment. No answer costs a request.
func stepListers(ctx context.Context, env *step.Env) error {
	f := factory.New(env.Client, factory.Options{Namespace: env.Namespace})
	defer f.Shutdown()
	deployments, replicaSets, pods := f.Deployments().Lister(), f.ReplicaSets().Lister(), f.Pods().Lister()
	services, nodes := f.Services().Lister(), f.Nodes().Lister()
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	env.Requests.Reset()

	fmt.Fprintln(env.Out, "deployments :", names(deployments.List(labels.Everything())))
	_, err := deployments.Deployments(env.Namespace).Get("shop")
	fmt.Fprintln(env.Out, "deployment shop :", err)

	web, db := labels.SelectorFromSet(labels.Set{"app": "web"}), labels.SelectorFromSet(labels.Set{"app": "db"})
	owned, err := replicaSets.ReplicaSets(env.Namespace).List(web)
	if err != nil || len(owned) == 0 {
		return errors.Join(err, errors.New("there is no replica set"))
	}
	fmt.Fprintf(env.Out, "replica sets with app=web : %d, owned by %s\n", len(owned), owned[0].OwnerReferences[0].Name)
	running, err := pods.List(web)
	if err != nil || len(running) == 0 {
		return errors.Join(err, errors.New("there is no pod"))
	}
	node, err := nodes.Get(running[0].Spec.NodeName)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "pods with app=web : %d, on a node with %s\n",
		len(running), node.Status.NodeInfo.OperatingSystem)
	fmt.Fprintf(env.Out, "pods with app=db : [%s]\n", names(pods.List(db)))
	fmt.Fprintf(env.Out, "pods of kube-system : [%s]\n", names(pods.Pods("kube-system").List(labels.Everything())))
	fmt.Fprintln(env.Out, "services :", names(services.List(labels.Everything())))
	fmt.Fprintln(env.Out, "requests for all these answers :", env.Requests)
	return nil
}
