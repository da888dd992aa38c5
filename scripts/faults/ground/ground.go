// Package ground is the control plane that faults happen to: a throw-away one,
// with an account for the informers under test, whose token and rights can be
// taken away, and a certificate that can be replaced.
package ground

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

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/faults/judge"
)

// A Ground is a control plane without scheduler and node: nothing changes
// objects but the harness.
type Ground struct {
	Plane  *local.ControlPlane
	Client kubernetes.Interface // the administrator's, straight to the server

	dir         string
	config      *rest.Config // the administrator's
	disconnect  func()
	ca          *x509.Certificate
	caPEM       []byte
	caKey       *ecdsa.PrivateKey
	certificate *x509.Certificate // the latest one
}

// Open starts a control plane, whose API server may get more flags. Close ends it
// and removes its files.
func Open(ctx context.Context, progress io.Writer, flags ...string) (_ *Ground, err error) {
	dir, err := os.MkdirTemp("", "faults-") // short: a socket's path must be
	if err != nil {
		return nil, err
	}
	g := &Ground{dir: dir, disconnect: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	if err := g.newAuthority(); err != nil {
		return nil, err
	}
	if err := g.NewCertificate(); err != nil {
		return nil, err
	}
	g.Plane, err = local.Start(ctx, local.Options{
		Dir: filepath.Join(dir, "plane"), APIOnly: true, Progress: progress,
		APIServerArgs: append([]string{
			fmt.Sprintf("--tls-sni-cert-key=%s,%s:%s", g.path("server.crt"), g.path("server.key"), serverName),
			"--delete-collection-workers=8",
			"--request-timeout=10m", // a list of 50,000 objects is deleted in one call
		}, flags...),
	})
	if err != nil {
		return nil, fmt.Errorf("a control plane for the faults: %w", err)
	}
	if g.config, err = clientcmd.BuildConfigFromFlags("", g.Plane.Kubeconfig()); err != nil {
		return nil, err
	}
	g.config.QPS = -1
	if g.Client, g.disconnect, err = Connect(g.config); err != nil {
		return nil, err
	}
	return g, g.openAccount(ctx)
}

func (g *Ground) path(name string) string { return filepath.Join(g.dir, name) }

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

// Close ends the control plane and removes its files.
func (g *Ground) Close() error {
	g.disconnect()
	var err error
	if g.Plane != nil {
		err = g.Plane.Stop()
	}
	return errors.Join(err, os.RemoveAll(g.dir))
}

// Config is for an informer under test: with the account's token and the
// certificate that can be replaced. Its frames are JSON.
func (g *Ground) Config() *rest.Config {
	return &rest.Config{
		Host:            g.config.Host,
		BearerTokenFile: g.path("token"),
		TLSClientConfig: rest.TLSClientConfig{ServerName: serverName, CAData: g.caPEM},
		ContentConfig:   rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
		QPS:             -1,
	}
}

// Namespace makes a namespace, unless it is there.
func (g *Ground) Namespace(ctx context.Context, name string) error {
	_, err := g.Client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// hands is how many objects are made at the same time.
const hands = 16

// Fill makes n ConfigMaps in a namespace, which it makes first if need be.
func (g *Ground) Fill(ctx context.Context, namespace string, n int) error {
	if err := g.Namespace(ctx, namespace); err != nil {
		return err
	}
	making, ctx := errgroup.WithContext(ctx)
	making.SetLimit(hands)
	for i := range n {
		making.Go(func() error {
			_, err := g.Client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("one-of-many-%d", i)},
			}, metav1.CreateOptions{})
			return err
		})
	}
	return making.Wait()
}

// Resources are what is changed and watched.
var Resources = []string{"configmaps", "pods"}

// List asks the server for all that there is of a resource.
func (g *Ground) List(ctx context.Context, resource string) ([]judge.Object, error) {
	list, err := g.Client.CoreV1().RESTClient().Get().Resource(resource).Do(ctx).Get()
	if err != nil {
		return nil, fmt.Errorf("the truth about %s: %w", resource, err)
	}
	var all []judge.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		all = append(all, item.(judge.Object))
		return nil
	})
	return all, err
}
