package main

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/steptest"
)

func TestMain(m *testing.M) {
	steptest.Program(main)
	os.Exit(m.Run())
}

func TestAKubeconfigThatIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	steptest.WantExit(t, steptest.Outside(t, "-kubeconfig", file), 1, file, "no such file")
	must.Do(t, os.WriteFile(file, []byte("kind: Poem\n"), 0o600))
	steptest.WantExit(t, steptest.Outside(t, "-kubeconfig", file), 1, file, "Poem")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	steptest.WantExit(t, steptest.Outside(t, "-kubeconfig", file), 1, file, "no configuration")
	steptest.WantExit(t, steptest.Outside(t), 1, "-kubeconfig")
}
