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
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Check returns an error that says what is missing.
type Check func(context.Context, kubernetes.Interface) error

// What can be waited for.
var (
	// API is an API server that is ready and has the namespace default.
	API = []Check{apiServer, exists("the namespace default", "/api/v1/namespaces/default")}

	// Node is an API server that is ready and a node that is Ready.
	Node = []Check{apiServer, node}

	// Pods is all of that and, in the namespace default, what every new pod needs:
	// its service account and the root CA. (A pod created before that is refused.)
	Pods = append(slices.Clip(Node),
		exists("the default service account", "/api/v1/namespaces/default/serviceaccounts/default"),
		exists("the ConfigMap kube-root-ca.crt", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt"))
)

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

// exists makes a check of one object.
func exists(what, path string) Check {
	return func(ctx context.Context, client kubernetes.Interface) error {
		if err := client.CoreV1().RESTClient().Get().AbsPath(path).Do(ctx).Error(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
}
