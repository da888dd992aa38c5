// Command run-notices runs the controller of package notices, on client-go's informers.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/08-factory/controller/notices"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "without it, the account of the pod")
	namespace := flag.String("namespace", "default", "the namespace of the notices")
	lease := flag.String("lease", "", "the name of the Lease of all replicas; without it, run one replica only")
	workers := flag.Int("workers", 0, "how many notices to reconcile at the same time (default 2)")
	health := flag.String("health", "", "where to answer /healthz and /readyz, such as 127.0.0.1:8081; "+
		"a kubelet asks from outside of the pod, at :8081; without it, nowhere")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "run-notices: it takes no argument, and got %q; -h lists the flags\n", flag.Args())
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	options := notices.Options{Lease: *lease, Workers: *workers}
	if err := run(ctx, *kubeconfig, *namespace, *health, options); err != nil {
		fmt.Fprintln(os.Stderr, "run-notices:", err)
		os.Exit(1)
	}
}

// run runs the controller until ctx ends.
func run(ctx context.Context, kubeconfig, namespace, health string, options notices.Options) error {
	config, err := load(kubeconfig)
	if err != nil {
		return err
	}
	if health != "" {
		options.Health, err = new(net.ListenConfig).Listen(ctx, "tcp", health)
		if err != nil {
			return fmt.Errorf("-health %s: %w", health, err)
		}
	}
	return notices.Run(ctx, config, namespace, options)
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
