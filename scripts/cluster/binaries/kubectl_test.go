package binaries

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.com/informer/scripts/harness/must"
)

func TestKubectlFits(t *testing.T) {
	const server = "v1.37.1"
	for minor, want := range map[string]bool{"35": false, "36": true, "37": true, "38": true, "39": false, "x": false} {
		kubectl := filepath.Join(t.TempDir(), "kubectl")
		script := fmt.Sprintf("#!/bin/sh\necho Client Version: v1.%s.4-dispatcher\necho Kustomize Version: v5.5.0\n",
			minor)
		must.NoError(t, os.WriteFile(kubectl, []byte(script), 0o755))
		if got := fits(t.Context(), kubectl, server); got != want {
			t.Errorf("a kubectl of version 1.%s: fits(%s) = %t, want %t", minor, server, got, want)
		}
	}
}
