// Package kube connects a step to a cluster: the clients, a namespace of the
// step's own, and the pods that it runs there.
package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// connectTimeout is how long Connect waits for the API server's first answer.
const connectTimeout = 10 * time.Second

// A Cluster is reached through three clients, all made from one configuration.
type Cluster struct {
	Config    *rest.Config
	Clientset kubernetes.Interface                    // typed: objects are Go structs
	Dynamic   dynamic.Interface                       // untyped: objects are maps, of any resource
	Discovery discovery.DiscoveryInterfaceWithContext // what resources there are

	dialer  *connrotation.Dialer // knows all connections
	kubectl string               // the command line that reaches the same cluster
}

// Close ends all connections, and whatever still goes on over them.
func (c *Cluster) Close() { c.dialer.CloseAll() }

// Connect makes the clients for the chosen cluster and sees that it answers.
// Its errors say what to do next.
func Connect(ctx context.Context, opts Options) (*Cluster, error) {
	config, kubectl, err := opts.load()
	if err != nil {
		return nil, err
	}
	// The server has its own limits (API Priority and Fairness); client-go's
	// default of 5 requests a second would only make the steps wait.
	config.QPS = -1
	cluster, err := newCluster(config)
	if err != nil {
		return nil, err
	}
	cluster.kubectl = kubectl

	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if _, err := cluster.Discovery.ServerVersionWithContext(ctx); err != nil {
		cluster.Close()
		return nil, cluster.explain(err)
	}
	return cluster, nil
}

// newCluster makes the clients, over connections of their own.
func newCluster(config *rest.Config) (*Cluster, error) {
	dial := config.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	dialer := connrotation.NewDialer(connrotation.DialFunc(dial))
	config = rest.CopyConfig(config)
	config.Dial = dialer.DialContext
	// One HTTP client for all three, so that they share connections.
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials in the kubeconfig: %w", err)
	}
	clientset, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making the clientset: %w", err)
	}
	dyn, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making the dynamic client: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making the discovery client: %w", err)
	}
	return &Cluster{Config: config, Clientset: clientset, Dynamic: dyn, Discovery: disco, dialer: dialer}, nil
}

// explain adds to an error from the cluster what the user can do about it.
// What is not about reaching the cluster stays as it is.
func (c *Cluster) explain(err error) error {
	server := "the API server at " + c.Config.Host
	var unreached *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s refused the credentials (401 Unauthorized): they may have expired.\n"+
			"Get a new kubeconfig; for a cluster of this workspace, bring it down and up again", server)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s forbids this: %w.\n"+
			"Ask for that right, or use a cluster of your own (scripts/local-up.sh)", server, err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &unreached) && unreached.Timeout():
		return fmt.Errorf("%s did not answer in time: is the cluster running? (scripts/local-up.sh starts one): %w",
			server, err)
	case errors.As(err, &unreached):
		return fmt.Errorf("%s cannot be reached: is the cluster running? (scripts/local-up.sh starts one): %w",
			server, unreached.Err)
	default:
		return err
	}
}
