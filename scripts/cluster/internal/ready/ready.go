// Package ready asks a cluster whether it answers, and waits until pods can be
// created on it.
package ready

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	askTimeout = 5 * time.Second
	askEvery   = 100 * time.Millisecond
)

// connect makes a client from kubeconfig: a file, or a list of files as
// $KUBECONFIG holds it. No other place is looked at.
func connect(kubeconfig string) (client kubernetes.Interface, hangUp func(), err error) {
	paths := filepath.SplitList(kubeconfig)
	if len(paths) == 1 { // of a list, kubectl too passes over the files that are missing
		if _, err := os.Stat(kubeconfig); err != nil {
			return nil, nil, fmt.Errorf("kubeconfig: %w", err)
		}
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: paths}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	config.Timeout = askTimeout
	config.QPS = -1
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	client, err = kubernetes.NewForConfigAndClient(config, httpClient)
	return client, func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) }, err
}

// Answers asks the cluster's /readyz once.
func Answers(ctx context.Context, kubeconfig string) error {
	client, hangUp, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	defer hangUp()
	return apiServer(ctx, client)
}

// Wait returns when the API server is ready, a node is Ready, and the namespace
// default has what every new pod needs: its service account and the root CA.
// (A pod created before that is refused.) When ctx ends first, the error says
// what was still missing.
func Wait(ctx context.Context, kubeconfig string) error {
	return waitFor(ctx, kubeconfig, apiServer, node, serviceAccount, rootCA)
}

// WaitNode returns when the API server is ready and a node is Ready.
func WaitNode(ctx context.Context, kubeconfig string) error {
	return waitFor(ctx, kubeconfig, apiServer, node)
}

// WaitAPI returns when the API server is ready and has the namespace default.
func WaitAPI(ctx context.Context, kubeconfig string) error {
	return waitFor(ctx, kubeconfig, apiServer, namespace)
}

type check func(context.Context, kubernetes.Interface) error

func waitFor(ctx context.Context, kubeconfig string, checks ...check) error {
	client, hangUp, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	defer hangUp()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for _, c := range checks {
		var missing error
		for {
			err := c(ctx, client)
			if err == nil {
				break
			}
			if missing == nil || ctx.Err() == nil { // not the error that ctx itself caused
				missing = err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w; still missing: %w", context.Cause(ctx), missing)
			case <-tick.C:
			}
		}
	}
	return nil
}

func apiServer(ctx context.Context, client kubernetes.Interface) error {
	body, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	if err == nil {
		return nil
	}
	failing := notOK.FindAllString(string(body), -1)
	switch {
	case failing != nil:
		err = errors.New(strings.Join(failing, ", "))
	case apierrors.IsUnauthorized(err):
		err = errors.New("it refuses the credentials (401 Unauthorized)")
	case os.IsTimeout(err) && ctx.Err() == nil:
		err = fmt.Errorf("no answer within %s", askTimeout)
	}
	return fmt.Errorf("a ready API server: %w", err)
}

// notOK matches what /readyz says of a part that is not ready.
var notOK = regexp.MustCompile(`\[-\]\S+`)

func namespace(ctx context.Context, client kubernetes.Interface) error {
	if _, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return fmt.Errorf("the namespace default: %w", err)
	}
	return nil
}

func node(ctx context.Context, client kubernetes.Interface) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("a Ready node: %w", err)
	}
	for _, n := range nodes.Items {
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
	}
	return errors.New("a Ready node")
}

func serviceAccount(ctx context.Context, client kubernetes.Interface) error {
	if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return fmt.Errorf("the default service account: %w", err)
	}
	return nil
}

func rootCA(ctx context.Context, client kubernetes.Interface) error {
	if _, err := client.CoreV1().ConfigMaps("default").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
		return fmt.Errorf("the ConfigMap kube-root-ca.crt: %w", err)
	}
	return nil
}
