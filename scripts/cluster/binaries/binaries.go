// Package binaries gets the programs of a cluster into the user's cache: those that
// were released where the network has them, else built from Go modules.
package binaries

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"example.com/informer/scripts/harness/workspace"
)

// ControlPlane are the programs of a cluster without containers.
var ControlPlane = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kwokctl"}

// packages are what the programs are built from. The module in scripts/controlplane
// has them as its tools.
var packages = map[string]string{
	"etcd":                    "go.etcd.io/etcd/server/v3",
	"kube-apiserver":          "k8s.io/kubernetes/cmd/kube-apiserver",
	"kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
	"kube-scheduler":          "k8s.io/kubernetes/cmd/kube-scheduler",
	"kubectl":                 "k8s.io/kubernetes/cmd/kubectl",
	"kwok":                    "sigs.k8s.io/kwok/cmd/kwok",
	"kwokctl":                 "sigs.k8s.io/kwok/cmd/kwokctl",
}

// Options of Get.
type Options struct {
	Build    bool      // from Go modules, even where the network has them
	Progress io.Writer // takes a line for each thing that takes long
}

// Get returns the folder that has these programs. The cache keeps them for each version,
// so that only the first call takes long.
func Get(ctx context.Context, options Options, names ...string) (folder string, err error) {
	s, err := findSource()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(s.cache, s.kubernetes+"-"+s.fingerprint)
	var missing []string
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return folder, nil
	}
	scratch := "" // on the same disk: what is ready is moved to its place
	if err = os.MkdirAll(folder, 0o755); err == nil {
		scratch, err = os.MkdirTemp(folder, ".new-")
	}
	if err != nil {
		return "", fmt.Errorf("the programs of the cluster cannot be kept in %s: %w\n"+
			"make room there or make it writable, or set XDG_CACHE_HOME to another folder", s.cache, err)
	}
	defer os.RemoveAll(scratch)
	if err := s.downloadOrBuild(ctx, missing, scratch, options); err != nil {
		return "", err
	}
	for _, name := range missing { // where another process has been faster, this is the same program
		if err := os.Rename(filepath.Join(scratch, name), filepath.Join(folder, name)); err != nil {
			return "", err
		}
	}
	return folder, nil
}

func (s *source) downloadOrBuild(ctx context.Context, names []string, folder string, options Options) error {
	if !options.Build {
		err := s.download(ctx, names, folder, options.Progress)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			return nil
		case !errors.Is(err, errNotReleased):
			fmt.Fprintln(options.Progress, err)
		}
	}
	return s.build(ctx, names, folder, options.Progress)
}

// A source says what the programs are made from, and where they are kept.
type source struct {
	module                 string // the folder scripts/controlplane
	kubernetes, etcd, kwok string // versions
	fingerprint            string // of all that decides what the programs become
	cache                  string
}

func findSource() (*source, error) {
	root, err := workspace.Root(".")
	if err != nil {
		return nil, err
	}
	s := &source{module: filepath.Join(root, "scripts", "controlplane"), cache: os.Getenv("XDG_CACHE_HOME")}
	mod, err := os.ReadFile(filepath.Join(s.module, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("the versions of the cluster's programs: %w", err)
	}
	for path, version := range map[string]*string{
		"k8s.io/kubernetes": &s.kubernetes, "go.etcd.io/etcd/server/v3": &s.etcd, "sigs.k8s.io/kwok": &s.kwok,
	} {
		required := regexp.MustCompile(`(?m)^\s*(?:require )?` + regexp.QuoteMeta(path) + ` (v\S+)`).FindSubmatch(mod)
		if required == nil {
			return nil, fmt.Errorf("%s/go.mod does not require %s", s.module, path)
		}
		*version = string(required[1])
	}
	hash := sha256.Sum256(append(mod, runtime.GOOS+"/"+runtime.GOARCH...))
	s.fingerprint = fmt.Sprintf("%x", hash[:6])
	if s.cache == "" {
		if s.cache, err = os.UserCacheDir(); err != nil {
			return nil, fmt.Errorf("a cache for the programs of the cluster: %w; set XDG_CACHE_HOME", err)
		}
	}
	s.cache = filepath.Join(s.cache, "informer-tutorial")
	return s, nil
}

// KubernetesVersion is the version of the cluster's programs, such as v1.37.1.
func KubernetesVersion() (string, error) {
	s, err := findSource()
	if err != nil {
		return "", err
	}
	return s.kubernetes, nil
}
