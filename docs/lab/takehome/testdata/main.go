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

// A Lesson has what most steps use of step.Lesson.
type Lesson struct {
	Client    kubernetes.Interface
	Config    *rest.Config
	Namespace string
	Out       io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // it ends on Ctrl-C
	defer stop()
	kubeconfig := clientcmd.NewNonInteractiveDeferredLoadingClientConfig( // $KUBECONFIG, or ~/.kube/config
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
	config, err := kubeconfig.ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	namespace, _, err := kubeconfig.Namespace() // of the current context, or "default"
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	err = stepWatch(ctx, &Lesson{Client: client, Config: config, Namespace: namespace, Out: os.Stdout})
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}
