// Package testenv is the environment of the informers under test: a throw-away
// control plane, a service account whose token and rights can be taken away, and
// a serving certificate that can be replaced.
package testenv

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/record"
)

// An Environment is a control plane without scheduler and node: nothing changes
// objects but this program.
type Environment struct {
	ControlPlane *local.Cluster
	Client       kubernetes.Interface // the administrator's, straight to the server

	dir         string
	config      *rest.Config // the administrator's
	disconnect  func()
	ca          *x509.Certificate
	caPEM       []byte
	caKey       *ecdsa.PrivateKey
	certificate *x509.Certificate // the latest one
}

// Start starts a control plane. Its API server gets the flags as well. Stop ends
// it and removes its files.
func Start(ctx context.Context, progress io.Writer, flags ...string) (_ *Environment, err error) {
	dir, err := os.MkdirTemp("", "faults-")
	if err != nil {
		return nil, err
	}
	e := &Environment{dir: dir, disconnect: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop())
		}
	}()
	if err := e.newAuthority(); err != nil {
		return nil, err
	}
	if err := e.NewCertificate(); err != nil {
		return nil, err
	}
	e.ControlPlane, err = local.Start(ctx, local.Options{
		Dir: filepath.Join(dir, "plane"), Disable: []string{local.Scheduler, local.Node},
		Options: binaries.Options{Progress: progress},
		APIServerArgs: append([]string{
			"--disable-admission-plugins=ServiceAccount", // without controllers a namespace has none
			fmt.Sprintf("--tls-sni-cert-key=%s,%s:%s", e.path("server.crt"), e.path("server.key"), serverName),
			"--delete-collection-workers=8",
			"--request-timeout=10m", // a list of 50,000 objects is deleted in one call
		}, flags...),
	})
	if err != nil {
		return nil, fmt.Errorf("a control plane for the faults: %w", err)
	}
	if err := e.ControlPlane.Kill(local.ControllerManager); err != nil { // a fault may restart it
		return nil, err
	}
	if e.config, err = clientcmd.BuildConfigFromFlags("", e.ControlPlane.Kubeconfig()); err != nil {
		return nil, err
	}
	e.config.QPS = -1
	if e.Client, e.disconnect, err = Connect(e.config); err != nil {
		return nil, err
	}
	return e, e.createAccount(ctx)
}

func (e *Environment) path(name string) string { return filepath.Join(e.dir, name) }

// Connect makes a client with connections of its own, and a function that
// closes those that are idle.
func Connect(config *rest.Config) (client *kubernetes.Clientset, disconnect func(), err error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	client, err = kubernetes.NewForConfigAndClient(config, httpClient)
	return client, func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) }, err
}

// Stop ends the control plane and removes its files.
func (e *Environment) Stop() error {
	e.disconnect()
	var err error
	if e.ControlPlane != nil {
		err = e.ControlPlane.Stop()
	}
	return errors.Join(err, os.RemoveAll(e.dir))
}

// Config is for an informer under test. It uses the account's token, the
// certificate that can be replaced, and JSON.
func (e *Environment) Config() *rest.Config {
	return &rest.Config{
		Host:            e.config.Host,
		BearerTokenFile: e.path("token"),
		TLSClientConfig: rest.TLSClientConfig{ServerName: serverName, CAData: e.caPEM},
		ContentConfig:   rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
		QPS:             -1,
	}
}

// CreateNamespace creates a namespace, unless it exists.
func (e *Environment) CreateNamespace(ctx context.Context, name string) error {
	_, err := e.Client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// creators is how many objects are created at the same time.
const creators = 16

// Fill creates n ConfigMaps in a namespace, and the namespace unless it exists.
func (e *Environment) Fill(ctx context.Context, namespace string, n int) error {
	if err := e.CreateNamespace(ctx, namespace); err != nil {
		return err
	}
	creating, ctx := errgroup.WithContext(ctx)
	creating.SetLimit(creators)
	for i := range n {
		creating.Go(func() error {
			_, err := e.Client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("one-of-many-%d", i)},
			}, metav1.CreateOptions{})
			return err
		})
	}
	return creating.Wait()
}

// Resources are those that the workload changes and the informers watch.
var Resources = []string{"configmaps", "pods"}

// List asks the server for all objects of a resource.
func (e *Environment) List(ctx context.Context, resource string) ([]record.Object, error) {
	list, err := e.Client.CoreV1().RESTClient().Get().Resource(resource).Do(ctx).Get()
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource, err)
	}
	var all []record.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		all = append(all, item.(record.Object))
		return nil
	})
	return all, err
}
