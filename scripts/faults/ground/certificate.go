// The certificate under which the informers under test know the API server,
// beside the one that everybody else sees: it is asked for by its name.

package ground

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"time"
)

const serverName = "faults.informer.example.com"

// authority is a certificate authority that lives as long as the harness.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := template("the fault harness")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate: certificate, key: key, pem: block("CERTIFICATE", der)}, err
}

func template(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // never fails
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// NewCertificate writes a certificate with a key of its own. The API server takes
// it when it starts, and must not run.
func (g *Ground) NewCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	template := template("kube-apiserver")
	g.serial = template.SerialNumber
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{serverName}
	der, err := x509.CreateCertificate(rand.Reader, template, g.authority.certificate, key.Public(), g.authority.key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(g.path("server.key"), block("EC PRIVATE KEY", keyDER), 0o600); err != nil {
		return err
	}
	return os.WriteFile(g.path("server.crt"), block("CERTIFICATE", der), 0o600)
}

// ShowsCertificate fails if the API server does not have the latest certificate.
func (g *Ground) ShowsCertificate(ctx context.Context) error {
	address, err := g.Address()
	if err != nil {
		return err
	}
	dialer := tls.Dialer{Config: &tls.Config{ServerName: serverName, RootCAs: x509.NewCertPool()}}
	dialer.Config.RootCAs.AddCert(g.authority.certificate)
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	shown := conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber
	if shown.Cmp(g.serial) != 0 {
		return fmt.Errorf("the API server has certificate %v, and not the new one, %v", shown, g.serial)
	}
	return nil
}
