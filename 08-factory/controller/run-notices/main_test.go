package main

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	must.Program(main)
	os.Exit(m.Run())
}

func TestFlagsThatAreWrong(t *testing.T) {
	for _, test := range []struct {
		name    string
		content string
		want    string // in the message
	}{
		{name: "another kind", content: "kind: Poem\n", want: "Poem"},
		{name: "empty", content: "", want: "no configuration"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config")
			must.NoError(t, os.WriteFile(file, []byte(test.content), 0o600))
			must.ExitWith(t, must.CommandOutside(t, "-kubeconfig", file), 1, file, test.want)
		})
	}
	t.Run("no file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "config")
		must.ExitWith(t, must.CommandOutside(t, "-kubeconfig", file), 1, file, "no such file")
	})
	t.Run("no address for the health", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "config")
		must.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
			CurrentContext: "here",
			Contexts:       map[string]*clientcmdapi.Context{"here": {Cluster: "here"}},
			Clusters:       map[string]*clientcmdapi.Cluster{"here": {Server: "http://127.0.0.1:1"}},
		}, file))
		must.ExitWith(t, must.CommandOutside(t, "-kubeconfig", file, "-health", "nonsense"), 1, "-health nonsense")
	})
	t.Run("no flag", func(t *testing.T) {
		must.ExitWith(t, must.CommandOutside(t), 1, "-kubeconfig")
	})
}
