// Which versions of the programs the workspace asks for, and where the cache keeps them.

package binaries

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"example.com/informer/scripts/harness/workspace"
)

// A source says which versions the programs have, and where they are kept.
type source struct {
	module                 string // the folder scripts/controlplane
	kubernetes, etcd, kwok string // versions
	os, arch               string // of the programs, such as linux and amd64
	folder                 string // in the cache, for these versions and for this system
}

// findSource reads the versions from scripts/controlplane/go.mod of the workspace.
func findSource() (*source, error) {
	root, err := workspace.Root(".")
	if err != nil {
		return nil, err
	}
	module := filepath.Join(root, "scripts", "controlplane")
	mod, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("the versions of the cluster's programs: %w", err)
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, fmt.Errorf("no cache for the cluster's programs: %w; set XDG_CACHE_HOME to an absolute path", err)
	}
	versions := requiredVersions(mod)
	kubernetes := versions["k8s.io/kubernetes"]
	hash := sha256.Sum256(append(mod, runtime.GOOS+"/"+runtime.GOARCH...))
	return &source{
		module:     module,
		kubernetes: kubernetes,
		etcd:       versions["go.etcd.io/etcd/server/v3"],
		kwok:       versions["sigs.k8s.io/kwok"],
		os:         runtime.GOOS,
		arch:       runtime.GOARCH,
		folder:     filepath.Join(cache, "informer-tutorial", fmt.Sprintf("%s-%x", kubernetes, hash[:6])),
	}, nil
}

var requirement = regexp.MustCompile(`(?m)^\s*(?:require )?(\S+) (v\S+)`)

// requiredVersions returns the versions that a go.mod file requires, by module path.
func requiredVersions(mod []byte) map[string]string {
	versions := map[string]string{}
	for _, match := range requirement.FindAllStringSubmatch(string(mod), -1) {
		versions[match[1]] = match[2]
	}
	return versions
}

// cacheDir returns the user's cache folder. XDG_CACHE_HOME counts on every system, not only on
// Linux.
func cacheDir() (string, error) {
	dir := os.Getenv("XDG_CACHE_HOME")
	switch {
	case dir == "":
		return os.UserCacheDir()
	case !filepath.IsAbs(dir): // it would be another folder in each working directory
		return "", fmt.Errorf("XDG_CACHE_HOME is the relative path %q", dir)
	}
	return dir, nil
}

// cached reports whether the cache has the program of this name.
func (s *source) cached(name string) bool {
	_, err := os.Stat(filepath.Join(s.folder, name))
	return err == nil
}

// KubernetesVersion returns the version of the cluster's programs, such as v1.37.1. It returns ""
// outside of a workspace.
func KubernetesVersion() string {
	s, err := findSource()
	if err != nil {
		return ""
	}
	return s.kubernetes
}
