// Certificates, keys, the token and the kubeconfig of a control plane. All are
// made anew at each start; the CA's own key is never written down.

package local

import (
	"crypto/rand"
	"fmt"
	"net"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"example.com/informer/scripts/cluster/internal/filelock"
)

const (
	serviceRange   = "10.96.0.0/16"
	firstServiceIP = "10.96.0.1" // that of the Service kubernetes
)

// serverNames are those under which the API server's clients know it.
var serverNames = []string{
	"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
	"kubernetes.default.svc.cluster.local",
}

// writeCredentials fills the pki folder and writes the kubeconfig.
func writeCredentials(dir string, apiServerPort int) error {
	serverCert, serverKey, err := cert.GenerateSelfSignedCertKey("127.0.0.1",
		[]net.IP{net.ParseIP(firstServiceIP)}, serverNames)
	if err != nil {
		return err
	}
	chain, err := cert.ParseCertsPEM(serverCert) // the server's own, and that of the CA that signed it
	if err != nil {
		return err
	}
	ca, err := cert.EncodeCertificates(chain[1:]...)
	if err != nil {
		return err
	}
	serviceAccountKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	token := rand.Text()
	for name, content := range map[string][]byte{
		"ca.crt":              ca,
		"server.crt":          serverCert,
		"server.key":          serverKey,
		"service-account.key": serviceAccountKey,
		"tokens.csv":          fmt.Appendf(nil, "%s,admin,admin,system:masters\n", token),
	} {
		if err := filelock.WriteFile(filepath.Join(pkiDir(dir), name), content, 0o600); err != nil {
			return err
		}
	}
	return writeKubeconfig(filepath.Join(dir, "kubeconfig"), apiServerPort, ca, token)
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
	return filelock.WriteFile(path, b, 0o600)
}
