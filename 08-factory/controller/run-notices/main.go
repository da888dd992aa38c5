// Command run-notices runs the controller of package notices, on client-go's informers.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/08-factory/controller/notices"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "without it, the account of the pod")
	namespace := flag.String("namespace", "default", "the namespace of the notices")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "run-notices: it takes no argument, and got %q; -h lists the flags\n", flag.Args())
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := run(ctx, *kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "run-notices:", err)
		os.Exit(1)
	}
}

// run runs the controller until ctx ends.
func run(ctx context.Context, kubeconfig, namespace string) error {
	config, err := load(kubeconfig)
	if err != nil {
		return err
	}
	return notices.Run(ctx, config, namespace, cache.NewSharedIndexInformerWithOptions)
}

// load reads a kubeconfig. Without a kubeconfig, it returns the configuration of a pod.
func load(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("there is no -kubeconfig, and this is not a pod: %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: %w", kubeconfig, err)
	}
	return config, nil
}
