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
	"slices"

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
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := os.Stat(filepath.Join(s.folder, name))
		return err == nil
	})
	if len(missing) == 0 {
		return s.folder, nil
	}
	scratch := "" // on the same disk: what is ready is moved to its place
	if err = os.MkdirAll(s.folder, 0o755); err == nil {
		scratch, err = os.MkdirTemp(s.folder, ".new-")
	}
	if err != nil {
		return "", fmt.Errorf("the programs of the cluster cannot be kept: %w\n"+
			"make room there or make it writable, or set XDG_CACHE_HOME to another folder", err)
	}
	defer os.RemoveAll(scratch)
	if err = errors.New("-build was given"); !options.Build {
		err = s.download(ctx, missing, scratch, options.Progress)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(options.Progress, err)
		err = s.build(ctx, missing, scratch, options.Progress)
	}
	for _, name := range missing { // where another process has been faster, this is the same program
		if err == nil {
			err = os.Rename(filepath.Join(scratch, name), filepath.Join(s.folder, name))
		}
	}
	return s.folder, err
}

// A source says what the programs are made from, and where they are kept.
type source struct {
	module                 string // the folder scripts/controlplane
	kubernetes, etcd, kwok string // versions
	folder                 string // of the cache, for these versions and this kind of machine
}

func findSource() (*source, error) {
	root, err := workspace.Root(".")
	s := &source{module: filepath.Join(root, "scripts", "controlplane")}
	if err != nil {
		return s, err
	}
	mod, err := os.ReadFile(filepath.Join(s.module, "go.mod"))
	if err != nil {
		return s, fmt.Errorf("the versions of the cluster's programs: %w", err)
	}
	versions := map[string]string{}
	required := regexp.MustCompile(`(?m)^\s*(?:require )?(\S+) (v\S+)`)
	for _, line := range required.FindAllStringSubmatch(string(mod), -1) {
		versions[line[1]] = line[2]
	}
	s.kubernetes, s.etcd = versions["k8s.io/kubernetes"], versions["go.etcd.io/etcd/server/v3"]
	s.kwok = versions["sigs.k8s.io/kwok"]
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		if cache, err = os.UserCacheDir(); err != nil {
			return s, fmt.Errorf("a cache for the programs of the cluster: %w; set XDG_CACHE_HOME", err)
		}
	}
	hash := sha256.Sum256(append(mod, runtime.GOOS+"/"+runtime.GOARCH...))
	s.folder = filepath.Join(cache, "informer-tutorial", fmt.Sprintf("%s-%x", s.kubernetes, hash[:6]))
	return s, nil
}

// KubernetesVersion is the version of the cluster's programs, such as v1.37.1; "" outside a
// workspace.
func KubernetesVersion() string {
	s, _ := findSource()
	return s.kubernetes
}
