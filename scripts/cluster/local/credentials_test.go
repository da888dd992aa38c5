// Tests that what a control plane's clients and servers are given is sound, and
// nobody else's to read.

package local

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

func TestCredentials(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := clean(dir); err != nil {
		t.Fatal(err)
	}
	if err := writeCredentials(dir, 12345); err != nil {
		t.Fatal(err)
	}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	config, err := clientcmd.LoadFromFile(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	current := config.Contexts[config.CurrentContext]
	cluster, user := config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo]
	if cluster.Server != "https://127.0.0.1:12345" || cluster.InsecureSkipTLSVerify {
		t.Errorf("cluster: %+v", cluster)
	}
	tokens, err := os.ReadFile(filepath.Join(pkiDir(dir), "tokens.csv"))
	if err != nil || len(user.Token) < 20 || !strings.HasPrefix(string(tokens), user.Token+",") {
		t.Errorf("token %q, %v", user.Token, err)
	}

	pair, err := tls.LoadX509KeyPair(filepath.Join(pkiDir(dir), "server.crt"), filepath.Join(pkiDir(dir), "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cluster.CertificateAuthorityData)
	for _, name := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc", firstServiceIP} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	before := user.Token
	if err := writeCredentials(dir, 12345); err != nil {
		t.Fatal(err)
	}
	if config, err = clientcmd.LoadFromFile(filepath.Join(dir, "kubeconfig")); err != nil {
		t.Fatal(err)
	}
	if config.AuthInfos[current.AuthInfo].Token == before {
		t.Error("the same token twice")
	}
}
