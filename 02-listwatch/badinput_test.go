// The errors of the program for wrong input: one or two lines that say what to do next.

package main

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/informer/scripts/harness/must"
)

func TestWithoutACluster(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"watch", "-follow"}} {
		must.ExitWith(t, must.CommandOutside(t, args...), 1, "no cluster chosen", "scripts/local-up.sh", "-kubeconfig")
	}
	must.ExitWith(t, must.CommandOutside(t, "lisst"), 2, `no step "lisst"`, "list, watch, wire,")
}

func TestHomeKubeconfigIsNeverReadByAccident(t *testing.T) {
	const production = `{"kind": "Config", "apiVersion": "v1", "current-context": "production",
		"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
		"contexts": [{"name": "production", "context": {"cluster": "c"}}]}`
	home := t.TempDir()
	must.NoError(t, os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	file := filepath.Join(home, ".kube", "config")
	must.NoError(t, os.WriteFile(file, []byte(production), 0o600))

	cmd := must.CommandOutside(t, "list")
	cmd.Env = append(cmd.Env, "HOME="+home)
	must.ExitWith(t, cmd, 1, "no cluster chosen")
	named := must.CommandOutside(t, "-kubeconfig", file, "list") // it could be used, if it were named
	must.ExitWith(t, named, 1, "https://127.0.0.1:1", "connection refused")
}
