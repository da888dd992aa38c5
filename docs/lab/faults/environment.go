// The environment of the informers under test: a throw-away control plane, a service account whose
// token and rights can be taken away, and a serving certificate that can be replaced.

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

// environment is a control plane without scheduler and node: nothing changes
// objects but this program.
type environment struct {
	*local.Cluster
	client kubernetes.Interface // the administrator's, straight to the server

	dir     string
	program string            // kubectl
	config  *rest.Config      // the administrator's
	key     *ecdsa.PrivateKey // of the certificate authority, and of the API server
	ca      *x509.Certificate // its own authority
	serial  *big.Int          // of the API server's latest certificate
}

// startEnvironment starts a control plane. Watches of ConfigMaps come from the API
// server's watch cache, as usual, and those of pods straight from etcd.
func startEnvironment(ctx context.Context, progress io.Writer) (_ *environment, err error) {
	dir, err := os.MkdirTemp("", "faults-")
	if err != nil {
		return nil, err
	}
	e := &environment{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.stop())
		}
	}()
	if e.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	if e.ca, err = cert.NewSelfSignedCACert(cert.Config{CommonName: "the fault harness"}, e.key); err != nil {
		return nil, err
	}
	if err := e.newCertificate(ctx); err != nil {
		return nil, err
	}
	programs := binaries.Options{Progress: progress}
	if e.program, err = binaries.Kubectl(ctx, programs); err != nil {
		return nil, err
	}
	e.Cluster, err = local.Start(ctx, local.Options{
		Dir: e.path("plane"), Disable: []string{local.Scheduler, local.Node}, Options: programs,
		APIServerArgs: []string{
			"--watch-cache-sizes=pods#0",
			"--disable-admission-plugins=ServiceAccount", // without controllers a namespace has none
			fmt.Sprintf("--tls-sni-cert-key=%s,%s:%s", e.path("server.crt"), e.path("server.key"), serverName),
			"--delete-collection-workers=8",
			"--request-timeout=10m", // a list of 50,000 objects is deleted in one call
		},
	})
	if err != nil {
		return nil, fmt.Errorf("a control plane for the faults: %w", err)
	}
	if err := e.Kill(local.ControllerManager); err != nil { // a fault may restart it
		return nil, err
	}
	if e.config, err = clientcmd.BuildConfigFromFlags("", e.Kubeconfig()); err != nil {
		return nil, err
	}
	e.config.QPS = -1 // no limit of the client's own: it would only make the faults wait
	if e.client, err = kubernetes.NewForConfig(e.config); err != nil {
		return nil, err
	}
	return e, e.fillIn(ctx)
}

func (e *environment) path(name string) string { return filepath.Join(e.dir, name) }

// connect makes a client with connections of its own, and a function that
// closes those that are idle.
func connect(config *rest.Config) (client *kubernetes.Clientset, disconnect func(), err error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	client, err = kubernetes.NewForConfigAndClient(config, httpClient)
	return client, func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) }, err
}

// stop ends the control plane and removes its files.
func (e *environment) stop() (err error) {
	if e.Cluster != nil {
		err = e.Stop()
	}
	return errors.Join(err, os.RemoveAll(e.dir))
}

// kubectl runs a command as the administrator, and returns what it printed.
func (e *environment) kubectl(ctx context.Context, command string) (string, error) {
	return binaries.RunKubectl(ctx, e.program, e.Kubeconfig(), strings.Fields(command)...)
}

// namespaces are those of the workload.
var namespaces = []string{"faults-0", "faults-1", "faults-2"}

// fillIn creates the namespaces, and the service account of the informers.
func (e *environment) fillIn(ctx context.Context) error {
	commands := []string{
		"create clusterrole informer --verb=list,watch --resource=" + strings.Join(resources, ","), grantRights,
	}
	for _, name := range append(slices.Clone(namespaces), many, large) {
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
	return e.untilAnswer(ctx, func(err error) bool { return err == nil })
}

// grantRights gives the account its rights.
const grantRights = "create clusterrolebinding informer --clusterrole=informer --serviceaccount=default:informer"

// newToken creates the account and writes a token for it to the file. The token is
// valid until the account is deleted.
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

// untilAnswer asks for a list as the account, until the answer is as expected. That can take ten
// seconds, because the server caches what it knows of a token for that long.
func (e *environment) untilAnswer(ctx context.Context, expected func(error) bool) error {
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
		err = fmt.Errorf("waiting for another answer to the account: %w; the last one: %v", err, last)
	}
	return err
}

// accountConfig is for an informer under test. It uses the account's token, the
// certificate that can be replaced, and JSON.
func (e *environment) accountConfig() *rest.Config {
	return &rest.Config{
		Host:            e.config.Host,
		BearerTokenFile: e.path("token"),
		TLSClientConfig: rest.TLSClientConfig{ServerName: serverName, CAData: pemOf(e.ca.Raw)},
		ContentConfig:   rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
		QPS:             -1, // as above
	}
}

// resources are those that the workload changes and the informers watch.
var resources = []string{"configmaps", "pods"}

// compact makes etcd forget every version before the present one. The version of a
// list of pods is etcd's own: the API server has no watch cache for them.
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

// serverName is that of the certificate which the API server shows to the informers
// under test (SNI). Every other client sees another one.
const serverName = "faults.informer.example.com"

// newCertificate writes a certificate. The API server reads it when it starts, and
// must not run now.
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
	return errors.Join(err, keyutil.WriteKey(e.path("server.key"), key),
		cert.WriteCert(e.path("server.crt"), pemOf(der)))
}

func pemOf(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate})
}

// checkCertificate fails if the API server does not have the latest certificate.
func (e *environment) checkCertificate(context.Context) error {
	shown, _, err := cert.GetServingCertificatesForURL(e.config.Host, serverName)
	if err == nil && shown[0].SerialNumber.Cmp(e.serial) != 0 {
		err = errors.New("the API server does not have the new certificate")
	}
	return err
}
