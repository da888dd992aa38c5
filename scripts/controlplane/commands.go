// The subcommands of our own: what they share is flags, a client and a clean end.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/version"

	"example.com/informer/scripts/controlplane/controllers"
	"example.com/informer/scripts/controlplane/node"
)

const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

func runControllers(args []string) int {
	flags := flag.NewFlagSet("controllers", flag.ContinueOnError)
	rootCA := flags.String("root-ca", "", "`file` with the CA certificate to publish to every namespace")
	return serve(flags, args, "kube-controller-manager",
		func(ctx context.Context, config *rest.Config, client kubernetes.Interface) error {
			ca, err := os.ReadFile(*rootCA)
			if err != nil {
				return fmt.Errorf("reading the CA to publish: %w", err)
			}
			factory := informers.NewSharedInformerFactoryWithOptions(client, controllers.Resync,
				informers.WithTransform(controllers.Trim))
			return controllers.Run(ctx, config, client, factory, ca)
		})
}

func runNode(args []string) int {
	flags := flag.NewFlagSet("node", flag.ContinueOnError)
	name := flags.String("name", "", "`name` of the node")
	return serve(flags, args, "kubelet",
		func(ctx context.Context, _ *rest.Config, client kubernetes.Interface) error {
			return node.Run(ctx, client, node.Config{Name: *name, Version: version.Get().GitVersion})
		})
}

// serve adds the flag -kubeconfig, parses args, and runs f, as the given client of
// the API server, until it fails or SIGTERM or Ctrl-C cancels its context.
func serve(flags *flag.FlagSet, args []string, userAgent string,
	f func(context.Context, *rest.Config, kubernetes.Interface) error) int {
	kubeconfig := flags.String("kubeconfig", "", "`file` that says how to reach the API server")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	complete := flags.NArg() == 0
	flags.VisitAll(func(f *flag.Flag) { complete = complete && f.Value.String() != "" })
	if !complete {
		fmt.Fprintf(os.Stderr, "controlplane %s needs all of its flags, and takes nothing else:\n", flags.Name())
		flags.PrintDefaults()
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, client, err := connect(*kubeconfig, userAgent)
	if err == nil {
		err = f(ctx, config, client)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "controlplane %s: %v\n", flags.Name(), err)
		return exitFailure
	}
	return exitOK
}

// connect reads a kubeconfig for a client that goes by the given name. The API
// server rations its clients itself, so the client does not hold back; and it
// warns of old kinds, which the garbage collector has to watch all the same.
func connect(kubeconfig, name string) (*rest.Config, kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("reading kubeconfig %s: %w", kubeconfig, err)
	}
	config.UserAgent = name + "/" + version.Get().GitVersion
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client from %s: %w", kubeconfig, err)
	}
	return config, client, nil
}
