// Registration: how the node comes to be known, Ready, and stays so.

package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	registerEvery = 200 * time.Millisecond // until it works
	reportEvery   = 5 * time.Minute        // as often as a kubelet with nothing new to say
	leaseDuration = 40 * time.Second
	renewEvery    = leaseDuration / 4
)

// register makes the node known and Ready. It tries until it succeeds: the API
// server may not be up yet.
func register(ctx context.Context, client kubernetes.Interface, config Config) error {
	last := ""
	return wait.PollUntilContextCancel(ctx, registerEvery, true, func(ctx context.Context) (bool, error) {
		err := tryRegister(ctx, client, config)
		if err == nil {
			klog.FromContext(ctx).Info("Registered", "node", config.Name)
			return true, nil
		}
		if err.Error() != last {
			last = err.Error()
			klog.FromContext(ctx).Info("Not registered yet", "node", config.Name, "err", err)
		}
		return false, nil
	})
}

// tryRegister goes by way of a node that is not Ready, as a kubelet does: the
// API server taints a new node, and a node that were Ready and tainted at once
// would refuse pods that it ought to take.
func tryRegister(ctx context.Context, client kubernetes.Interface, config Config) error {
	_, err := client.CoreV1().Nodes().Create(ctx, describe(config), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the node: %w", err)
	}
	if err := adopt(ctx, client, config); err != nil {
		return fmt.Errorf("updating the node: %w", err)
	}
	if err := report(ctx, client, config); err != nil {
		return fmt.Errorf("reporting the node Ready: %w", err)
	}
	return nil
}

// adopt gives the node the labels and annotations it should have, whoever made
// it, and takes away the taints of a node that is down. On a full cluster the
// node lifecycle controller does that.
func adopt(ctx context.Context, client kubernetes.Interface, config Config) error {
	return change(ctx, client, config.Name, func(node *v1.Node) error {
		want := describe(config)
		for k, v := range want.Labels {
			metav1.SetMetaDataLabel(&node.ObjectMeta, k, v)
		}
		for k, v := range want.Annotations {
			metav1.SetMetaDataAnnotation(&node.ObjectMeta, k, v)
		}
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t v1.Taint) bool {
			return t.Key == v1.TaintNodeNotReady || t.Key == v1.TaintNodeUnreachable
		})
		_, err := client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

// report writes the node's whole status: what it has, and that it is Ready.
func report(ctx context.Context, client kubernetes.Interface, config Config) error {
	return change(ctx, client, config.Name, func(node *v1.Node) error {
		node.Status = nodeStatus(node.Status, config, metav1.Now())
		_, err := client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

// change reads the node and lets f write it, again if someone else wrote in between.
func change(ctx context.Context, client kubernetes.Interface, name string, f func(*v1.Node) error) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return f(node)
	})
}

func reportStatus(ctx context.Context, client kubernetes.Interface, config Config) {
	_ = wait.PollUntilContextCancel(ctx, reportEvery, false, func(ctx context.Context) (bool, error) {
		if err := report(ctx, client, config); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Could not report the status of the node; will try again",
				"in", reportEvery)
		}
		return false, nil
	})
}

// renewLease keeps the heartbeat of the node: a Lease, owned by it.
func renewLease(ctx context.Context, client kubernetes.Interface, name string) {
	own := func(l *coordinationv1.Lease) error {
		if len(l.OwnerReferences) > 0 {
			return nil
		}
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the node that is to own the lease: %w", err)
		}
		l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: node.UID}}
		return nil
	}
	lease.NewController(clock.RealClock{}, client, name, int32(leaseDuration.Seconds()), nil, renewEvery,
		name, v1.NamespaceNodeLease, own).Run(ctx)
}
