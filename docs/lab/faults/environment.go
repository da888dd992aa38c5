// The environment of the informers under test: a temporary control plane, a service account whose
// token and rights can be revoked, and a serving certificate that can be replaced.

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
)

// environment is a control plane without a scheduler and nodes, so that only this program changes
// objects.
type environment struct {
	*local.Cluster
	client kubernetes.Interface // the administrator's; it does not go through a proxy

	dir     string            // for temporary files
	program string            // the path of kubectl
	config  *rest.Config      // the administrator's
	key     *ecdsa.PrivateKey // of the certificate authority, and of the API server
	ca      *x509.Certificate // the certificate authority
	serial  *big.Int          // of the API server's latest certificate
}

// startEnvironment starts a control plane. The API server answers watches of ConfigMaps from its
// watch cache, as usual, and watches of pods directly from etcd.
func startEnvironment(ctx context.Context, progress io.Writer) (*environment, error) {
	dir, err := os.MkdirTemp("", "faults-")
	if err != nil {
		return nil, err
	}
	e := &environment{dir: dir}
	if err := e.start(ctx, progress); err != nil {
		return nil, errors.Join(err, e.stop())
	}
	return e, nil
}

func (e *environment) start(ctx context.Context, progress io.Writer) error {
	if err := e.newAuthority(ctx); err != nil {
		return err
	}
	if err := e.startControlPlane(ctx, progress); err != nil {
		return err
	}
	if err := e.Kill(local.ControllerManager); err != nil { // a fault may restart it
		return err
	}
	if err := e.connectAdministrator(); err != nil {
		return err
	}
	return e.createObjects(ctx)
}

// newAuthority makes the certificate authority, and the first certificate of the API server.
func (e *environment) newAuthority(ctx context.Context) error {
	var err error
	e.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	e.ca, err = cert.NewSelfSignedCACert(cert.Config{CommonName: "the fault harness"}, e.key)
	if err != nil {
		return err
	}
	return e.newCertificate(ctx)
}

func (e *environment) startControlPlane(ctx context.Context, progress io.Writer) error {
	programs := binaries.Options{Progress: progress}
	var err error
	e.program, err = binaries.Kubectl(ctx, programs)
	if err != nil {
		return err
	}
	e.Cluster, err = local.Start(ctx, local.Options{
		Dir: e.path("plane"), Disable: []string{local.Scheduler, local.Node}, Options: programs,
		APIServerArgs: []string{
			"--watch-cache-sizes=pods#0",
			"--disable-admission-plugins=ServiceAccount", // without controllers, a namespace has no service account
			fmt.Sprintf("--tls-sni-cert-key=%s,%s:%s", e.path("server.crt"), e.path("server.key"), serverName),
			"--delete-collection-workers=8",
			"--request-timeout=10m", // a fault deletes 50,000 objects in one call
		},
	})
	if err != nil {
		return fmt.Errorf("starting a control plane for the faults: %w", err)
	}
	return nil
}

// connectAdministrator makes the client of the administrator.
func (e *environment) connectAdministrator() error {
	var err error
	e.config, err = clientcmd.BuildConfigFromFlags("", e.Kubeconfig())
	if err != nil {
		return err
	}
	e.config.QPS = -1 // no client-side rate limit, which would only delay the faults
	e.client, err = kubernetes.NewForConfig(e.config)
	return err
}

func (e *environment) path(name string) string { return filepath.Join(e.dir, name) }

// connect makes a client with connections of its own, and a function that closes idle connections.
func connect(config *rest.Config) (client *kubernetes.Clientset, disconnect func(), err error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	client, err = kubernetes.NewForConfigAndClient(config, httpClient)
	return client, func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) }, err
}

// stop stops the control plane and removes its files.
func (e *environment) stop() error {
	var stopErr error
	if e.Cluster != nil {
		stopErr = e.Stop()
	}
	return errors.Join(stopErr, os.RemoveAll(e.dir))
}

// kubectl runs a command as the administrator, and returns its output.
func (e *environment) kubectl(ctx context.Context, command string) (string, error) {
	return binaries.RunKubectl(ctx, e.program, e.Kubeconfig(), strings.Fields(command)...)
}

// namespaces are those of the workload.
var namespaces = []string{"faults-0", "faults-1", "faults-2"}

// createObjects creates the namespaces, and the service account of the informers with its rights.
func (e *environment) createObjects(ctx context.Context) error {
	commands := []string{
		"create clusterrole informer --verb=list,watch --resource=" + strings.Join(resources, ","), grantRights,
	}
	for _, name := range append(slices.Clone(namespaces), manyNamespace, largeNamespace) {
		commands = append(commands, "create namespace "+name)
	}
	for _, command := range commands {
		if _, err := e.kubectl(ctx, command); err != nil {
			return err
		}
	}
	if err := e.newToken(ctx); err != nil {
		return err
	}
	return e.waitForAnswer(ctx, func(err error) bool { return err == nil })
}

// grantRights is the kubectl command that gives the account its rights.
const grantRights = "create clusterrolebinding informer --clusterrole=informer --serviceaccount=default:informer"

// newToken creates the account, and writes a token for it to the token file. The token is valid
// until the account is deleted.
func (e *environment) newToken(ctx context.Context) error {
	if _, err := e.kubectl(ctx, "create serviceaccount informer"); err != nil {
		return err
	}
	token, err := e.kubectl(ctx, "create token informer")
	if err != nil {
		return err
	}
	file := e.path("token")
	if err := os.WriteFile(file+".new", []byte(strings.TrimSpace(token)), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// waitForAnswer lists pods as the account until the answer is the expected one. That can take ten
// seconds, because the server caches the answers about a token for that long.
func (e *environment) waitForAnswer(ctx context.Context, expected func(error) bool) error {
	client, disconnect, err := connect(e.accountConfig())
	if err != nil {
		return err
	}
	defer disconnect()
	var last error
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 2*time.Minute, true,
		func(ctx context.Context) (bool, error) {
			_, last = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{Limit: 1})
			return expected(last), nil
		})
	if err != nil {
		return fmt.Errorf("waiting for another answer to the account: %w; the last one: %v", err, last)
	}
	return nil
}

// accountConfig returns the configuration of an informer under test, with the account's token, the
// certificate that can be replaced, and JSON.
func (e *environment) accountConfig() *rest.Config {
	return &rest.Config{
		Host:            e.config.Host,
		BearerTokenFile: e.path("token"),
		TLSClientConfig: rest.TLSClientConfig{ServerName: serverName, CAData: pemOf(e.ca.Raw)},
		ContentConfig:   rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
		QPS:             -1, // no client-side rate limit
	}
}

// resources are the resources that the workload changes and the informers watch.
var resources = []string{"configmaps", "pods"}

// compact makes etcd forget every version before the current one. It takes the current version from
// a list of pods, because the API server has no watch cache for pods.
func (e *environment) compact(ctx context.Context) error {
	pods, err := e.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	body := strings.NewReader(fmt.Sprintf(`{"revision":%q,"physical":true}`, pods.ResourceVersion))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.EtcdURL()+"/v3/kv/compaction", body)
	if err != nil {
		return err
	}
	etcd, err := e.EtcdClient()
	if err != nil {
		return err
	}
	defer etcd.CloseIdleConnections()
	response, err := etcd.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("compacting etcd: %s", response.Status)
	}
	return nil
}

// serverName is the server name (SNI) that the informers under test send. For it, the API server
// has a certificate that other clients do not see.
const serverName = "faults.informer.example.com"

// newCertificate writes a new certificate for the API server, which reads it when it starts. The
// API server must not run during the call.
func (e *environment) newCertificate(context.Context) error {
	e.serial = big.NewInt(time.Now().UnixNano())
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: e.serial, DNSNames: []string{serverName}, NotBefore: e.ca.NotBefore, NotAfter: e.ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, e.ca, e.key.Public(), e.key)
	if err != nil {
		return err
	}
	key, err := keyutil.MarshalPrivateKeyToPEM(e.key)
	if err != nil {
		return err
	}
	if err := keyutil.WriteKey(e.path("server.key"), key); err != nil {
		return err
	}
	return cert.WriteCert(e.path("server.crt"), pemOf(der))
}

func pemOf(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate})
}

// checkCertificate fails if the API server does not use the latest certificate.
func (e *environment) checkCertificate(context.Context) error {
	shown, _, err := cert.GetServingCertificatesForURL(e.config.Host, serverName)
	if err != nil {
		return err
	}
	if got := shown[0].SerialNumber; got.Cmp(e.serial) != 0 {
		return fmt.Errorf("the API server has the certificate with the serial number %v, want %v", got, e.serial)
	}
	return nil
}
