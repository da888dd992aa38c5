// The certificate under which the informers under test know the API server,
// beside the one that everybody else sees: it is asked for by its name.

package ground

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"math/big"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const serverName = "faults.informer.example.com"

// newAuthority makes a certificate authority that lives as long as the harness.
func (g *Ground) newAuthority() (err error) {
	if g.caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	if g.ca, err = cert.NewSelfSignedCACert(cert.Config{CommonName: "the fault harness"}, g.caKey); err != nil {
		return err
	}
	g.caPEM, err = cert.EncodeCertificates(g.ca)
	return err
}

// NewCertificate writes a certificate with a key of its own. The API server takes
// it when it starts, and must not run.
func (g *Ground) NewCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), DNSNames: []string{serverName},
		NotBefore: g.ca.NotBefore, NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, g.ca, key.Public(), g.caKey)
	if err != nil {
		return err
	}
	if g.certificate, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	keyPEM, keyErr := keyutil.MarshalPrivateKeyToPEM(key)
	pem, err := cert.EncodeCertificates(g.certificate)
	if err := errors.Join(keyErr, err); err != nil {
		return err
	}
	return errors.Join(keyutil.WriteKey(g.path("server.key"), keyPEM), cert.WriteCert(g.path("server.crt"), pem))
}

// ShowsCertificate fails if the API server does not have the latest certificate.
func (g *Ground) ShowsCertificate() error {
	shown, _, err := cert.GetServingCertificatesForURL(g.config.Host, serverName)
	if err == nil && !shown[0].Equal(g.certificate) {
		err = errors.New("the API server does not have the new certificate")
	}
	return err
}
