// The components of the control plane and the flags that each is started with.

package local

import (
	"fmt"
	"path/filepath"
)

// Component names a process of the control plane; also its log is called so.
type Component string

// The components, in the order in which they start.
const (
	Etcd        Component = "etcd"
	APIServer   Component = "kube-apiserver"
	Scheduler   Component = "kube-scheduler"
	Controllers Component = "controllers"
	Node        Component = "node"
)

var all = []Component{Etcd, APIServer, Scheduler, Controllers, Node}

// NodeName is also what kind calls the node of a cluster named informer.
const NodeName = "informer-control-plane"

const (
	etcdSocket = "unix://etcd.sock"
	peerSocket = "unix://peer.sock"
)

// command returns the executable of a component and its arguments.
func (cp *ControlPlane) command(c Component) (string, []string) {
	switch c {
	case Etcd:
		return cp.binaries.run(c, cp.etcdFlags())
	case APIServer:
		return cp.binaries.run(c, append(cp.apiServerFlags(), cp.opts.APIServerArgs...))
	case Scheduler:
		return cp.binaries.run(c, []string{
			"--kubeconfig=" + cp.Kubeconfig(),
			"--leader-elect=false",
			"--secure-port=0",
		})
	case Controllers:
		return cp.binaries.run(c, []string{
			"-kubeconfig", cp.Kubeconfig(),
			"-root-ca", cp.pki("ca.crt"),
		})
	default:
		return cp.binaries.run(c, []string{"-kubeconfig", cp.Kubeconfig(), "-name", NodeName})
	}
}

func (cp *ControlPlane) pki(name string) string { return filepath.Join(pkiDir(cp.opts.Dir), name) }

// etcdFlags: etcd and the API server talk over a socket in the data folder,
// where only its owner gets in; no port, no certificates. The name is relative
// to the working directory, since a socket's whole path must be short.
// Nothing here must survive a power cut, so etcd need not wait for the disk;
// kill -9 loses nothing.
func (cp *ControlPlane) etcdFlags() []string {
	return []string{
		"--name=local",
		"--data-dir=etcd",
		"--listen-client-urls=" + etcdSocket,
		"--advertise-client-urls=" + etcdSocket,
		"--listen-peer-urls=" + peerSocket,
		"--initial-advertise-peer-urls=" + peerSocket,
		"--initial-cluster=local=" + peerSocket,
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func (cp *ControlPlane) apiServerFlags() []string {
	flags := []string{
		"--etcd-servers=" + etcdSocket,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", cp.port),
		"--endpoint-reconciler-type=none", // a loopback address is no endpoint for the Service kubernetes
		"--tls-cert-file=" + cp.pki("server.crt"),
		"--tls-private-key-file=" + cp.pki("server.key"),
		"--token-auth-file=" + cp.pki("tokens.csv"),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + cp.pki("service-account.key"),
		"--service-account-signing-key-file=" + cp.pki("service-account.key"),
		"--allow-privileged=true",
		"--profiling=false",
	}
	if cp.opts.APIOnly { // without controllers there is no service account to give to a pod
		flags = append(flags, "--disable-admission-plugins=ServiceAccount")
	}
	return flags
}
