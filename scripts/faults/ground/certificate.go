// The certificate under which the informers under test know the API server,
// beside the one that everybody else sees: it is asked for by its name.
package ground

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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

// issueCertificate writes a certificate with a key of its own. The API server
// takes it when it starts.
func (g *Ground) issueCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	template := template("kube-apiserver")
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

// NewCertificate replaces the certificate by another of the same authority.
// The API server must not run.
func (g *Ground) NewCertificate() error { return g.issueCertificate() }
