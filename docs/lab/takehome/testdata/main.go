package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// An Env has what most steps use of step.Env.
type Env struct {
	Client    kubernetes.Interface
	Config    *rest.Config
	Namespace string
	Out       io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // it ends on Ctrl-C
	defer stop()
	env, err := connect()
	if err != nil {
		log.Fatal(err)
	}
	if err := stepWatch(ctx, env); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// connect makes a client from a kubeconfig: the file that $KUBECONFIG names, or ~/.kube/config.
func connect() (*Env, error) {
	kubeconfig := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
	config, err := kubeconfig.ClientConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	namespace, _, err := kubeconfig.Namespace() // of the current context, or "default"
	return &Env{Client: client, Config: config, Namespace: namespace, Out: os.Stdout}, err
}
