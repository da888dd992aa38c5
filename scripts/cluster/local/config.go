// The configuration of kwokctl.

package local

import (
	"bytes"
	_ "embed" // for the files of the configuration
	"net"
	"os"
	"strings"
	"text/template"

	"example.com/informer/scripts/cluster/binaries"
)

var (
	//go:embed kwokctl.yaml
	configTemplate string
	//go:embed stages.yaml
	stages string
	//go:embed node.yaml
	node []byte
)

// ports are the ports that the components listen on.
type ports struct {
	Etcd, EtcdPeer, APIServer, ControllerManager, Scheduler, Node int
}

// An argument is a flag for kube-apiserver.
type argument struct{ Key, Value string }

// writeConfig chooses the ports, and writes the configuration of kwokctl.
func (c *Cluster) writeConfig(file string) error {
	var err error
	c.ports, err = freePorts()
	if err != nil {
		return err
	}
	var args []argument
	for _, flag := range c.opts.APIServerArgs {
		key, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		args = append(args, argument{Key: key, Value: value})
	}
	parsed, err := template.New("kwokctl.yaml").Parse(configTemplate)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, map[string]any{
		"Version":       binaries.KubernetesVersion(),
		"Disable":       c.opts.Disable,
		"Ports":         c.ports,
		"APIServerArgs": args,
	})
	if err != nil {
		return err
	}
	text.WriteString(stages)
	return os.WriteFile(file, text.Bytes(), 0o600)
}

// freePorts finds ports that nobody listens on, at random.
func freePorts() (p ports, err error) {
	for _, port := range []*int{&p.Etcd, &p.EtcdPeer, &p.APIServer, &p.ControllerManager, &p.Scheduler, &p.Node} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return ports{}, err
		}
		defer listener.Close() // not before all ports are found, so that they differ
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}
