// What the chapters without a cluster import.

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Chapters 01 and 06 have no clients, and of the API's types only those of the
// core: so they build fast.
func TestChaptersWithoutAClusterImportNoClients(t *testing.T) {
	for _, chapter := range []string{"01-deltafifo", "06-processor"} {
		imports, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../"+chapter).Output()
		if err != nil {
			t.Fatalf("%s: %v", chapter, err)
		}
		for _, path := range strings.Fields(string(imports)) {
			if path == "k8s.io/client-go/kubernetes" ||
				strings.HasPrefix(path, "k8s.io/api/") && path != "k8s.io/api/core/v1" {
				t.Fatalf("%s imports %s", chapter, path)
			}
		}
	}
}
