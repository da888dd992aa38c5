// Package ground is the control plane that faults happen to: a throw-away one,
// with an account for the informers under test, whose token and rights can be
// taken away, and a certificate that can be replaced.
package ground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/scripts/cluster/local"
)

// A Ground is a control plane without scheduler and node: nothing changes
// objects but the harness.
type Ground struct {
	Plane  *local.ControlPlane
	Client kubernetes.Interface // the administrator's, straight to the server

	dir       string
	config    *rest.Config // the administrator's
	authority *authority
	close     func()
	tokens    int      // how many were made
	serial    *big.Int // of the latest certificate
}

// Open starts a control plane, whose API server may get more flags. Close ends it
// and removes its files.
func Open(ctx context.Context, progress io.Writer, flags ...string) (_ *Ground, err error) {
	dir, err := os.MkdirTemp("", "faults-") // short: a socket's path must be
	if err != nil {
		return nil, err
	}
	g := &Ground{dir: dir, close: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	if g.authority, err = newAuthority(); err != nil {
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
	if err := g.connect(); err != nil {
		return nil, err
	}
	return g, g.openAccount(ctx)
}

func (g *Ground) path(name string) string { return filepath.Join(g.dir, name) }

// connect makes the administrator's client.
func (g *Ground) connect() (err error) {
	if g.config, err = clientcmd.BuildConfigFromFlags("", g.Plane.Kubeconfig()); err != nil {
		return err
	}
	g.config.QPS = -1
	httpClient, err := rest.HTTPClientFor(g.config)
	if err != nil {
		return err
	}
	g.close = func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) }
	g.Client, err = kubernetes.NewForConfigAndClient(g.config, httpClient)
	return err
}

// Close ends the control plane and removes its files.
func (g *Ground) Close() error {
	g.close()
	var err error
	if g.Plane != nil {
		err = g.Plane.Stop()
	}
	return errors.Join(err, os.RemoveAll(g.dir))
}

// Address is the API server's host and port.
func (g *Ground) Address() (string, error) {
	u, err := url.Parse(g.config.Host)
	if err != nil {
		return "", err
	}
	return u.Host, nil
}

// Config is for an informer under test: with the account's token and the
// certificate that can be replaced. Its frames are JSON.
func (g *Ground) Config() *rest.Config {
	return &rest.Config{
		Host:            g.config.Host,
		BearerTokenFile: g.path("token"),
		TLSClientConfig: rest.TLSClientConfig{ServerName: serverName, CAData: g.authority.pem},
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

// Kill ends components the hard way.
func (g *Ground) Kill(components ...local.Component) error {
	for _, c := range components {
		if err := g.Plane.Kill(c); err != nil {
			return err
		}
	}
	return nil
}

// Signal sends a signal to etcd and the API server.
func (g *Ground) Signal(s syscall.Signal) error {
	return errors.Join(g.Plane.Signal(local.APIServer, s), g.Plane.Signal(local.Etcd, s))
}
