package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"example.com/informer/scripts/harness/must"
)

// The configuration of kwokctl is YAML, with the ports and flags of the cluster.
func TestWriteConfig(t *testing.T) {
	c := &Cluster{opts: Options{Disable: []string{Node}, APIServerArgs: []string{"--max-requests-inflight=333"}}}
	file := filepath.Join(t.TempDir(), "kwokctl.yaml")
	must.NoError(t, c.writeConfig(file))
	text, err := os.ReadFile(file)
	must.NoError(t, err)
	for _, want := range []string{
		fmt.Sprintf("etcdPort: %d #", c.ports.Etcd),
		fmt.Sprintf("kwokControllerPort: %d\n", c.ports.Node),
		fmt.Sprintf("value: 'node0=https://127.0.0.1:%d'", c.ports.EtcdPeer),
		"disable: [kwok-controller, ]",
		"{key: 'max-requests-inflight', value: '333'}",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the configuration lacks %q:\n%s", want, text)
		}
	}
	configuration, _, _ := strings.Cut(string(text), "\n---\n") // what follows are the stages
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(configuration), &parsed); err != nil {
		t.Errorf("the configuration is not YAML: %v:\n%s", err, configuration)
	}
}
