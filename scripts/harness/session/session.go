// Package session connects a step, or a test, to a cluster: the clients, a
// namespace of its own, and the kubectl commands that are given there.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// patience is how long a session waits for an answer of the API server, unless the options say otherwise.
const patience = 10 * time.Second

// A Session is a stay on a cluster, in a namespace of its own.
type Session struct {
	Config    *rest.Config
	Client    kubernetes.Interface
	Namespace string // removed by Close, if Open has made it

	made       bool                 // Open has made the namespace
	dialer     *connrotation.Dialer // knows all connections that were made with Config
	kubeconfig string               // the files that Config is from, as in $KUBECONFIG
	context    string               // the one that was asked for, or nothing
	patience   time.Duration        // for an answer of the API server

	mu      sync.Mutex // one kubectl command at a time
	kubectl string     // the program
	cache   string     // the folder of what it knows of the server's types
	dir     string     // where it runs; temporary
	files   []string   // in dir, that it has created objects of: -f FILE -f FILE
	defined bool       // it has read a file, which may have defined a type
}

// Open connects to the chosen cluster, makes a namespace, unless the options name
// one, and waits until pods are welcome in it. Its errors say what to do next.
func Open(ctx context.Context, opts Options) (*Session, error) {
	s, err := connect(opts)
	if err != nil {
		return nil, err
	}
	if s.Namespace = opts.Namespace; s.Namespace != "" {
		return s, nil
	}
	if err := s.makeNamespace(ctx); err != nil {
		return nil, errors.Join(s.Explain(err), s.Close(ctx))
	}
	return s, nil
}

// connect returns a session without a namespace. No request has been sent yet.
func connect(opts Options) (*Session, error) {
	config, kubeconfig, err := opts.load()
	if err != nil {
		return nil, err
	}
	// The server has its own limits (API Priority and Fairness); client-go's
	// default of 5 requests a second would only make the steps wait. A program that
	// runs for longer had better have a limit, such as 50: a loop with a bug needs one.
	config.QPS = -1
	s := &Session{Config: config, kubeconfig: kubeconfig, context: opts.Context,
		patience: cmp.Or(opts.Patience, patience), dialer: connrotation.NewDialer(new(net.Dialer).DialContext)}
	config.Dial = s.dialer.DialContext
	if s.Client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("reading the credentials in the kubeconfig: %w", err)
	}
	return s, nil
}

// controllersTimeout is how long to wait for what controllers put into a new namespace.
const controllersTimeout = time.Minute

// makeNamespace makes the namespace and waits for what controllers put into
// it. Before its service account exists, every pod is refused.
func (s *Session) makeNamespace(ctx context.Context) error {
	first, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	ns, err := s.Client.CoreV1().Namespaces().Create(first, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "informer-", Labels: map[string]string{madeBy: course},
			Annotations: map[string]string{processKey: thisProcess()}},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("making a namespace: %w", err)
	}
	s.Namespace, s.made = ns.Name, true
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, controllersTimeout, true,
		func(ctx context.Context) (bool, error) {
			_, noAccount := s.Client.CoreV1().ServiceAccounts(s.Namespace).Get(ctx, "default", metav1.GetOptions{})
			_, noRootCA := s.Client.CoreV1().ConfigMaps(s.Namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
			return noAccount == nil && noRootCA == nil, nil
		})
	if err != nil {
		return fmt.Errorf("waiting for the default service account and kube-root-ca.crt in namespace %s"+
			" (are the cluster's controllers running?): %w", s.Namespace, err)
	}
	return nil
}

// Close removes the namespace, and what kubectl has made out of files, without
// waiting for their end, and ends all connections. It works even if ctx has ended.
func (s *Session) Close(ctx context.Context) error {
	defer s.dialer.CloseAll()
	if s.Namespace == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	err := s.removeFiles(ctx)
	if !s.made {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	failed := s.Client.CoreV1().Namespaces().Delete(ctx, s.Namespace, metav1.DeleteOptions{})
	if failed != nil && !apierrors.IsNotFound(failed) {
		err = errors.Join(err, fmt.Errorf("removing the namespace %s: %w; scripts/clean.sh removes it later",
			s.Namespace, failed))
	}
	return s.Explain(err)
}

// Explain adds to an error from the cluster what the user can do about it.
// What is not about reaching the cluster stays as it is.
func (s *Session) Explain(err error) error {
	server := "the API server at " + s.Config.Host
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
	case errors.As(err, &unreached):
		outcome := map[bool]string{true: "did not answer in time", false: "cannot be reached"}[unreached.Timeout()]
		return fmt.Errorf("%s %s: is the cluster running? (scripts/local-up.sh starts one): %w",
			server, outcome, unreached.Err)
	default:
		return err
	}
}
