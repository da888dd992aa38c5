// Tests of cache directories that cannot be written to, with the means of Linux
// that work for every user, root too.

package local

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCacheDirectoryIsFull(t *testing.T) {
	cache, source := t.TempDir(), toy(t, hello)
	ownCache(t, cache)
	version, err := kubernetesVersion(source)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := fingerprint(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "informer-tutorial", version+"-"+hash)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// The binary is written where every write fails for want of space.
	if err := os.Symlink("/dev/full", filepath.Join(dir, "controlplane.partial")); err != nil {
		t.Fatal(err)
	}
	_, err = buildAndLetGo(t, source)
	checkCacheError(t, err, filepath.Dir(dir), "no space left on device")
}

func TestCacheDirectoryIsReadOnly(t *testing.T) {
	ownCache(t, "/sys/kernel") // where nobody can make a folder
	_, err := buildAndLetGo(t, toy(t, hello))
	checkCacheError(t, err, "/sys/kernel/informer-tutorial", "mkdir")
}
