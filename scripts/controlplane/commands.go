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
	kubeconfig := flags.String("kubeconfig", "", "`file` that says how to reach the API server (required)")
	rootCA := flags.String("root-ca", "", "`file` with the CA certificate to publish to every namespace (required)")
	if !parse(flags, args, "kubeconfig", "root-ca") {
		return exitUsage
	}
	return untilSignal(flags.Name(), func(ctx context.Context) error {
		config, err := loadConfig(*kubeconfig, "kube-controller-manager")
		if err != nil {
			return err
		}
		ca, err := os.ReadFile(*rootCA)
		if err != nil {
			return fmt.Errorf("reading the CA to publish: %w", err)
		}
		return controllers.Run(ctx, config, ca, controllers.ClientGo)
	})
}

func runNode(args []string) int {
	flags := flag.NewFlagSet("node", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "`file` that says how to reach the API server (required)")
	name := flags.String("name", "", "`name` of the node (required)")
	if !parse(flags, args, "kubeconfig", "name") {
		return exitUsage
	}
	return untilSignal(flags.Name(), func(ctx context.Context) error {
		config, err := loadConfig(*kubeconfig, "kubelet")
		if err != nil {
			return err
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("making a client from %s: %w", *kubeconfig, err)
		}
		return node.Run(ctx, client, node.Config{Name: *name, Version: version.Get().GitVersion})
	})
}

// parse says on stderr what is wrong with args, if anything: an unknown flag,
// an argument that is no flag, or a required flag left out.
func parse(flags *flag.FlagSet, args []string, required ...string) bool {
	if err := flags.Parse(args); err != nil {
		return false
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "controlplane %s: unexpected argument %q; it takes flags only (-h lists them)\n",
			flags.Name(), flags.Arg(0))
		return false
	}
	for _, name := range required {
		if flags.Lookup(name).Value.String() == "" {
			fmt.Fprintf(os.Stderr, "controlplane %s: -%s is required (-h lists the flags)\n", flags.Name(), name)
			return false
		}
	}
	return true
}

// untilSignal runs f until it fails or SIGTERM or Ctrl-C cancels its context.
func untilSignal(name string, f func(context.Context) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := f(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "controlplane %s: %v\n", name, err)
		return exitFailure
	}
	return exitOK
}

// loadConfig reads a kubeconfig for a client that goes by the given name. The
// API server rations its clients itself, so the client does not hold back; and
// it warns of old kinds, which the garbage collector has to watch all the same.
func loadConfig(file, name string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", file, err)
	}
	config.UserAgent = name + "/" + version.Get().GitVersion
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}
