// Certificates, keys, the token and the kubeconfig of a control plane. All are
// made anew at each start; the CA's own key is never written down.

package local

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const (
	serviceRange   = "10.96.0.0/16"
	firstServiceIP = "10.96.0.1" // that of the Service kubernetes
	validFor       = 365 * 24 * time.Hour
)

// writeCredentials fills the pki folder and writes the kubeconfig.
func writeCredentials(dir string, apiServerPort int) error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	token := rand.Text()
	files := map[string][]byte{
		"ca.crt":     ca.pem,
		"tokens.csv": fmt.Appendf(nil, "%s,admin,admin,system:masters\n", token),
	}
	if files["server.crt"], files["server.key"], err = ca.issueServer(); err != nil {
		return err
	}
	if _, files["service-account.key"], err = newKey(); err != nil {
		return err
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(pkiDir(dir), name), content); err != nil {
			return err
		}
	}
	return writeKubeconfig(filepath.Join(dir, "kubeconfig"), apiServerPort, ca.pem, token)
}

func writeKubeconfig(path string, port int, ca []byte, token string) error {
	const name = "informer-local"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{
		Server:                   fmt.Sprintf("https://127.0.0.1:%d", port),
		CertificateAuthorityData: ca,
	}
	config.AuthInfos[name] = &api.AuthInfo{Token: token}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	b, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return writeFile(path, b)
}

// authority is a certificate authority that lives as long as it is needed.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority() (*authority, error) {
	key, _, err := newKey()
	if err != nil {
		return nil, err
	}
	template := certificate("informer-local-ca")
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key, pem: encode("CERTIFICATE", der)}, nil
}

// issueServer makes a key for the API server and a certificate for the names
// under which its clients know it.
func (a *authority) issueServer() (certPEM, keyPEM []byte, err error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	template := certificate("kube-apiserver")
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local",
	}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(firstServiceIP)}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	return encode("CERTIFICATE", der), keyPEM, err
}

func certificate(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // never fails
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour), // clocks are set back at times
		NotAfter:     time.Now().Add(validFor),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	return key, encode("EC PRIVATE KEY", der), err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// writeFile writes a file that only its owner can read, all of it or nothing.
func writeFile(path string, content []byte) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, content, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
