// The environment of the informers under test: a temporary control plane, a service account whose
// token and rights can be revoked, and a serving certificate that can be replaced.

package faults

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	"example.com/informer/scripts/harness/must"
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

// serverName is the server name (SNI) that the informers under test send. For it, the API server
// has a certificate that other clients do not see.
const serverName = "faults.informer.example.com"

// resources are the resources that the workload changes and the informers watch.
var resources = []string{"configmaps", "pods"}

// startEnvironment starts a control plane. The API server answers watches of ConfigMaps from its
// watch cache, as usual, and watches of pods directly from etcd. The end of the test stops it.
func startEnvironment(t *testing.T) *environment {
	e := &environment{dir: t.TempDir()}
	programs := binaries.Options{Progress: os.Stderr}
	var err error
	e.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.NoError(t, err)
	e.ca, err = cert.NewSelfSignedCACert(cert.Config{CommonName: "the fault tests"}, e.key)
	must.NoError(t, err)
	e.newCertificate(t)
	e.program, err = binaries.Kubectl(t.Context(), programs)
	must.NoError(t, err)
	e.Cluster, err = local.Start(t.Context(), local.Options{
		Dir: e.path("plane"), Disable: []string{local.Scheduler, local.Node}, Options: programs,
		APIServerArgs: []string{
			"--watch-cache-sizes=pods#0",
			"--disable-admission-plugins=ServiceAccount", // without controllers, a namespace has no service account
			fmt.Sprintf("--tls-sni-cert-key=%s,%s:%s", e.path("server.crt"), e.path("server.key"), serverName),
			"--delete-collection-workers=8",
			"--request-timeout=10m", // a fault deletes 50,000 objects in one call
		},
	})
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, e.Stop()) })
	must.NoError(t, e.Kill(local.ControllerManager)) // a fault may restart it
	e.config, err = clientcmd.BuildConfigFromFlags("", e.Kubeconfig())
	must.NoError(t, err)
	e.config.QPS = -1 // no client-side rate limit, which would only delay the faults
	e.client, err = kubernetes.NewForConfig(e.config)
	must.NoError(t, err)
	return e
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

// kubectl runs a command as the administrator, and returns its output.
func (e *environment) kubectl(t testing.TB, command string) string {
	output, err := binaries.RunKubectl(t.Context(), e.program, e.Kubeconfig(), strings.Fields(command)...)
	must.NoError(t, err)
	return output
}

// createObjects creates the namespaces of the workload and of the faults, and the service account of
// the informers with its rights.
func (e *environment) createObjects(t testing.TB) {
	for _, name := range namespaces {
		e.kubectl(t, "create namespace "+name)
	}
	e.kubectl(t, "create namespace "+manyNamespace)
	e.kubectl(t, "create namespace "+largeNamespace)
	e.kubectl(t, "create clusterrole informer --verb=list,watch --resource="+strings.Join(resources, ","))
	e.kubectl(t, grantRights)
	e.newToken(t)
	e.waitForAnswer(t, func(err error) bool { return err == nil })
}

// grantRights is the kubectl command that gives the account its rights.
const grantRights = "create clusterrolebinding informer --clusterrole=informer --serviceaccount=default:informer"

// newToken creates the account, and writes a token for it to the token file. The token is valid
// until the account is deleted.
func (e *environment) newToken(t testing.TB) {
	e.kubectl(t, "create serviceaccount informer")
	token := strings.TrimSpace(e.kubectl(t, "create token informer"))
	file := e.path("token")
	must.NoError(t, os.WriteFile(file+".new", []byte(token), 0o600))
	must.NoError(t, os.Rename(file+".new", file))
}

// waitForAnswer lists pods as the account until the answer is the expected one. That can take ten
// seconds, because the server caches the answers about a token for that long.
func (e *environment) waitForAnswer(t testing.TB, expected func(error) bool) {
	client, disconnect, err := connect(e.accountConfig())
	must.NoError(t, err)
	defer disconnect()
	var last error
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, timeout, true,
		func(ctx context.Context) (bool, error) {
			_, last = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{Limit: 1})
			return expected(last), nil
		})
	if err != nil {
		t.Fatalf("waiting for another answer to the account: %v; the last one: %v", err, last)
	}
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

// compact makes etcd forget every version before the current one. It takes the current version from
// a list of pods, because the API server has no watch cache for pods.
func (e *environment) compact(t testing.TB) {
	pods, err := e.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	etcd, err := e.EtcdClient()
	must.NoError(t, err)
	defer etcd.CloseIdleConnections()
	body := strings.NewReader(fmt.Sprintf(`{"revision":%q,"physical":true}`, pods.ResourceVersion))
	response, err := etcd.Post(e.EtcdURL()+"/v3/kv/compaction", "application/json", body)
	must.NoError(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("compacting etcd: %s", response.Status)
	}
}

// newCertificate writes a new certificate for the API server, which reads it when it starts. The
// API server must not run during the call.
func (e *environment) newCertificate(t testing.TB) {
	e.serial = big.NewInt(time.Now().UnixNano())
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: e.serial, DNSNames: []string{serverName}, NotBefore: e.ca.NotBefore, NotAfter: e.ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, e.ca, e.key.Public(), e.key)
	must.NoError(t, err)
	key, err := keyutil.MarshalPrivateKeyToPEM(e.key)
	must.NoError(t, err)
	must.NoError(t, keyutil.WriteKey(e.path("server.key"), key))
	must.NoError(t, cert.WriteCert(e.path("server.crt"), pemOf(der)))
}

func pemOf(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate})
}

// checkCertificate fails if the API server does not use the latest certificate.
func (e *environment) checkCertificate(t testing.TB) {
	shown, _, err := cert.GetServingCertificatesForURL(e.config.Host, serverName)
	must.NoError(t, err)
	if got := shown[0].SerialNumber; got.Cmp(e.serial) != 0 {
		t.Fatalf("the API server has the certificate with the serial number %v, want %v", got, e.serial)
	}
}
