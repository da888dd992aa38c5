// Faults of a running cluster, for tests of clients.

package local

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"example.com/informer/scripts/cluster/binaries"
)

// PID returns the process ID of a component, or 0 while the component does not run.
func (c *Cluster) PID(component string) int { return Processes(c.folder())[component].PID }

// EtcdURL returns the URL of etcd.
func (c *Cluster) EtcdURL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.ports.Etcd) }

// EtcdClient returns a client for etcd, with the certificate that etcd asks for.
func (c *Cluster) EtcdClient() (*http.Client, error) {
	pki := filepath.Join(c.folder(), "pki")
	certificate, err := tls.LoadX509KeyPair(filepath.Join(pki, "admin.crt"), filepath.Join(pki, "admin.key"))
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}},
	}}, nil
}

// Signal sends a signal to a component: SIGSTOP freezes it, and SIGCONT lets it continue.
func (c *Cluster) Signal(component string, s syscall.Signal) error {
	pid := c.PID(component)
	if pid == 0 {
		return fmt.Errorf("signal %s: %w", component, os.ErrProcessDone)
	}
	return syscall.Kill(pid, s)
}

// Kill ends a component with SIGKILL and returns when it is gone.
func (c *Cluster) Kill(component string) error {
	if c.PID(component) == 0 {
		return fmt.Errorf("kill %s: %w", component, os.ErrProcessDone)
	}
	return kill(filepath.Join(c.folder(), "bin", component))
}

// Restart starts a component again that was killed, with the same port and the same data. For etcd
// and the API server it returns when the API server is ready, unless the other one of the two does
// not run.
func (c *Cluster) Restart(ctx context.Context, component string) error {
	if c.PID(component) != 0 {
		return fmt.Errorf("restart %s: it runs", component)
	}
	if err := c.run(component); err != nil {
		return fmt.Errorf("restart %s: %w", component, err)
	}
	if component != Etcd && component != APIServer {
		return nil
	}
	if c.PID(Etcd) == 0 || c.PID(APIServer) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	return binaries.Await(ctx, c.kubectl, c.Kubeconfig())
}
