// Package session connects a step or a test to a cluster. A session has clients and a namespace,
// and it runs kubectl in this namespace.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
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

// defaultPatience is how long a session waits for an answer of the API server, unless the options
// say otherwise.
const defaultPatience = 10 * time.Second

// A Session is a connection to a cluster, with a namespace of its own.
type Session struct {
	Config    *rest.Config
	Client    kubernetes.Interface
	Namespace string // removed by Close, if Open has made it

	ownsNamespace bool                 // Open has made the namespace
	dialer        *connrotation.Dialer // knows all connections that were made with Config
	kubeconfig    string               // the files that Config was read from, as in $KUBECONFIG
	context       string               // the context that the options name, or ""
	patience      time.Duration        // for an answer of the API server

	mu          sync.Mutex // guards the fields below, and lets one kubectl command run at a time
	kubectl     string     // the path of the program
	cacheDir    string     // where kubectl keeps what it knows about the server's types
	dir         string     // where kubectl runs; temporary
	fileFlags   []string   // the files in dir that kubectl has created objects from: -f FILE -f FILE
	hasReadFile bool       // kubectl has read a file, which may have defined a type
}

// Open connects to the chosen cluster. It makes a namespace, unless the options name one, and waits
// until pods can be created in it. Its errors say what to do next.
func Open(ctx context.Context, opts Options) (*Session, error) {
	s, err := connect(opts)
	if err != nil {
		return nil, err
	}
	if opts.Namespace != "" {
		s.Namespace = opts.Namespace
		return s, nil
	}
	if err := s.makeNamespace(ctx); err != nil {
		return nil, errors.Join(s.Explain(err), s.Close(ctx))
	}
	return s, nil
}

// connect returns a session without a namespace. It sends no request.
func connect(opts Options) (*Session, error) {
	config, kubeconfig, err := opts.load()
	if err != nil {
		return nil, err
	}
	// The server has its own limits (API Priority and Fairness). client-go's default of 5 requests
	// per second would only make the steps wait. A program that runs for a long time should have a
	// limit, such as 50, because of bugs that send requests in a loop.
	config.QPS = -1
	dialer := connrotation.NewDialer(new(net.Dialer).DialContext)
	config.Dial = dialer.DialContext
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials in the kubeconfig: %w", err)
	}
	return &Session{
		Config:     config,
		Client:     client,
		dialer:     dialer,
		kubeconfig: kubeconfig,
		context:    opts.Context,
		patience:   cmp.Or(opts.Patience, defaultPatience),
	}, nil
}

// The label of each namespace, and of each CustomResourceDefinition, that a step makes. (The YAML
// files of the definitions have it.) A step that is ended by kill -9, or by a second Ctrl-C, does not
// clean up: scripts/clean.sh does, which finds by the label what it has left.
const (
	madeBy = "example.com/made-by"
	course = "informer-course"
)

// processKey is the annotation of a namespace with the process that has made it: HOST/PID. As long as
// it may run, clean.sh keeps the namespace.
const processKey = "example.com/process"

// thisProcess returns the value of the annotation for this process.
func thisProcess() string {
	host, _ := os.Hostname() // machines without a name count as the same machine
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// controllersTimeout is how long to wait for the objects that controllers put into a new namespace.
const controllersTimeout = time.Minute

// makeNamespace makes the namespace, and waits for the objects that controllers put into it. The
// API server refuses every pod before the default service account exists.
func (s *Session) makeNamespace(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	ns, err := s.Client.CoreV1().Namespaces().Create(limited, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "informer-",
		Labels:       map[string]string{madeBy: course},
		Annotations:  map[string]string{processKey: thisProcess()},
	}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("making a namespace: %w", err)
	}
	s.Namespace, s.ownsNamespace = ns.Name, true
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, controllersTimeout, true,
		func(ctx context.Context) (bool, error) {
			_, accountErr := s.Client.CoreV1().ServiceAccounts(s.Namespace).Get(ctx, "default", metav1.GetOptions{})
			_, rootCAErr := s.Client.CoreV1().ConfigMaps(s.Namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
			return accountErr == nil && rootCAErr == nil, nil
		})
	if err != nil {
		return fmt.Errorf("waiting for the default service account and kube-root-ca.crt in namespace %s"+
			" (are the cluster's controllers running?): %w", s.Namespace, err)
	}
	return nil
}

// Close deletes the namespace, and the objects that kubectl has created from files. It does not
// wait until they are gone. It closes all connections, whose goroutines in net/http end then: nothing
// says when. It works even if ctx has ended.
func (s *Session) Close(ctx context.Context) error {
	defer s.dialer.CloseAll()
	if s.Namespace == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	err := s.removeFiles(ctx)
	if !s.ownsNamespace {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	deleteErr := s.Client.CoreV1().Namespaces().Delete(ctx, s.Namespace, metav1.DeleteOptions{})
	if deleteErr != nil && !apierrors.IsNotFound(deleteErr) {
		err = errors.Join(err, fmt.Errorf("removing the namespace %s: %w; scripts/clean.sh removes it later",
			s.Namespace, deleteErr))
	}
	return s.Explain(err)
}

// Explain adds to an error from the cluster what the user can do about it. It does not change an
// error that is not about reaching the cluster.
func (s *Session) Explain(err error) error {
	server := "the API server at " + s.Config.Host
	var urlErr *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s refused the credentials (401 Unauthorized): they may have expired.\n"+
			"Get a new kubeconfig; for a cluster of this workspace, bring it down and up again", server)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s forbids this: %w.\n"+
			"Ask for that right, or use a cluster of your own: "+startOne, server, err)
	case errors.As(err, &urlErr):
		problem := "cannot be reached"
		if urlErr.Timeout() {
			problem = "did not answer in time"
		}
		return fmt.Errorf("%s %s: is the cluster running? If not, "+startOne+": %w",
			server, problem, urlErr.Err)
	default:
		return err
	}
}
