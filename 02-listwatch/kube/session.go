// What a step works with: a cluster, a namespace of its own, a transcript.

package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// A Session is a step's stay on a cluster. What the step prints and does can
// be read like a terminal's transcript.
type Session struct {
	*Cluster
	*Transcript
	Namespace string // of the step's own, removed by Close
}

// Step makes a step of the runner out of a function that needs a cluster: it
// connects, opens a session, runs the function, and cleans up, also on Ctrl-C.
func (o *Options) Step(run func(context.Context, *Session) error) func(context.Context, io.Writer) error {
	return func(ctx context.Context, out io.Writer) (err error) {
		cluster, err := Connect(ctx, *o)
		if err != nil {
			return err
		}
		defer cluster.Close()
		s, err := cluster.OpenSession(ctx, out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close(ctx)) }()
		if err := run(ctx, s); err != nil {
			return cluster.explain(err)
		}
		return nil
	}
}

// Follow is Step for a function that goes on until Ctrl-C: that it was ended so
// is not an error.
func (o *Options) Follow(run func(context.Context, *Session) error) func(context.Context, io.Writer) error {
	return o.Step(func(ctx context.Context, s *Session) error {
		if err := run(ctx, s); ctx.Err() == nil {
			return err
		}
		return nil
	})
}

// OpenSession makes a namespace and waits until pods are welcome in it.
func (c *Cluster) OpenSession(ctx context.Context, out io.Writer) (*Session, error) {
	ns, err := c.Clientset.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "informer-"},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, c.explain(fmt.Errorf("making a namespace for the step: %w", err))
	}
	s := &Session{Cluster: c, Namespace: ns.Name, Transcript: &Transcript{Out: out}}
	if err := s.waitUntilFurnished(ctx); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

// waitUntilFurnished waits for what controllers put into a new namespace.
// Before its service account exists, every pod is refused.
func (s *Session) waitUntilFurnished(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			_, noAccount := s.Clientset.CoreV1().ServiceAccounts(s.Namespace).Get(ctx, "default", metav1.GetOptions{})
			_, noRootCA := s.Clientset.CoreV1().ConfigMaps(s.Namespace).Get(ctx, rootCA, metav1.GetOptions{})
			return noAccount == nil && noRootCA == nil, nil
		})
	if err != nil {
		return fmt.Errorf("waiting for the default service account and kube-root-ca.crt in namespace %s"+
			" (are the cluster's controllers running?): %w", s.Namespace, err)
	}
	return nil
}

// Close removes the namespace, without waiting for its end. It works also when
// ctx has ended.
func (s *Session) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
	defer cancel()
	if err := s.Clientset.CoreV1().Namespaces().Delete(ctx, s.Namespace, metav1.DeleteOptions{}); err != nil {
		return s.explain(fmt.Errorf("removing the step's namespace %s: %w", s.Namespace, err))
	}
	return nil
}

// With returns the same session over connections of its own, whose
// configuration was changed: to count requests, say, or to go through a proxy.
// The caller closes its Cluster, not the session.
func (s *Session) With(change func(*rest.Config)) (*Session, error) {
	config := rest.CopyConfig(s.Config)
	change(config)
	cluster, err := newCluster(config)
	if err != nil {
		return nil, err
	}
	cluster.kubectl = s.kubectl
	return &Session{Cluster: cluster, Namespace: s.Namespace, Transcript: s.Transcript}, nil
}

// Kubectl is how to reach this session's namespace from another terminal.
func (s *Session) Kubectl() string { return s.kubectl + " -n " + s.Namespace }
