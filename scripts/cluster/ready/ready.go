// Package ready asks a cluster whether it answers, and waits until pods can be
// created on it.
package ready

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	askTimeout = 5 * time.Second
	askEvery   = 100 * time.Millisecond
)

// A Check returns an error that says what is missing.
type Check func(context.Context, kubernetes.Interface) error

// API are the checks of an API server that is ready and has the namespace default.
func API() []Check {
	return []Check{
		exists("a ready API server", "/readyz"),
		exists("the namespace default", "/api/v1/namespaces/default"),
	}
}

// Pods are the checks of what every new pod needs in the namespace default: a service
// account and the root CA. (A pod created before that is refused.)
func Pods() []Check {
	return []Check{
		exists("the default service account", "/api/v1/namespaces/default/serviceaccounts/default"),
		exists("the ConfigMap kube-root-ca.crt", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt"),
	}
}

// exists makes a check of a path.
func exists(what, path string) Check {
	return func(ctx context.Context, client kubernetes.Interface) error {
		if err := client.CoreV1().RESTClient().Get().AbsPath(path).Do(ctx).Error(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
}

// Node is the check of a node that is Ready.
func Node(ctx context.Context, client kubernetes.Interface) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err == nil {
		err = errors.New("there is none")
		for _, node := range nodes.Items {
			for _, c := range node.Status.Conditions {
				if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("a Ready node: %w", err)
}

// Answers asks the cluster once whether it is ready.
func Answers(ctx context.Context, kubeconfig string) error {
	client, hangUp, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	defer hangUp()
	return API()[0](ctx, client)
}

// Wait returns when all that is wanted is there. When ctx ends first, the error
// says what was still missing. If hopeless, which is asked now and then, returns
// an error, Wait returns that one.
func Wait(ctx context.Context, kubeconfig string, wanted []Check, hopeless func() error) error {
	client, hangUp, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	defer hangUp()
	var missing error
	err = wait.PollUntilContextCancel(ctx, askEvery, true, func(ctx context.Context) (bool, error) {
		for ; len(wanted) > 0; wanted, missing = wanted[1:], nil {
			if err := wanted[0](ctx, client); err != nil {
				if missing == nil || ctx.Err() == nil { // not the error that ctx itself caused
					missing = err
				}
				return false, hopeless()
			}
		}
		return true, hopeless()
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("%w; still missing: %w", context.Cause(ctx), missing)
	}
	return err
}

// connect makes a client from kubeconfig: a file, or a list of files as
// $KUBECONFIG holds it. No other place is looked at.
func connect(kubeconfig string) (client kubernetes.Interface, hangUp func(), err error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(kubeconfig)}
	merged, err := rules.Load()
	if err != nil {
		return nil, nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*merged, "", &clientcmd.ConfigOverrides{}, rules).ClientConfig()
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
