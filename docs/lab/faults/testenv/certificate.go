// The certificate that the API server shows to the informers under test. They ask
// for it by its server name (SNI); every other client sees another one.

package testenv

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

// newAuthority makes a certificate authority that lives as long as the environment.
func (e *Environment) newAuthority() (err error) {
	if e.caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	if e.ca, err = cert.NewSelfSignedCACert(cert.Config{CommonName: "the fault harness"}, e.caKey); err != nil {
		return err
	}
	e.caPEM, err = cert.EncodeCertificates(e.ca)
	return err
}

// NewCertificate writes a certificate with a new key. The API server reads it when
// it starts, and must not run now.
func (e *Environment) NewCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), DNSNames: []string{serverName},
		NotBefore: e.ca.NotBefore, NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, e.ca, key.Public(), e.caKey)
	if err != nil {
		return err
	}
	if e.certificate, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	keyPEM, keyErr := keyutil.MarshalPrivateKeyToPEM(key)
	pem, err := cert.EncodeCertificates(e.certificate)
	if err := errors.Join(keyErr, err); err != nil {
		return err
	}
	return errors.Join(keyutil.WriteKey(e.path("server.key"), keyPEM), cert.WriteCert(e.path("server.crt"), pem))
}

// CheckCertificate fails if the API server does not have the latest certificate.
func (e *Environment) CheckCertificate() error {
	shown, _, err := cert.GetServingCertificatesForURL(e.config.Host, serverName)
	if err == nil && !shown[0].Equal(e.certificate) {
		err = errors.New("the API server does not have the new certificate")
	}
	return err
}
