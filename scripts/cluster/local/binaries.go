// Which executables to run: one of ours for everything, or kube-apiserver and
// etcd from a folder of ready-made ones.

package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/informer/scripts/harness/workspace"
)

type binaries struct {
	controlplane string
	use          *os.File // keeps controlplane in the cache; nil if that is not needed
	assets       string   // "" if there are none
}

// release lets go of the binaries. A component that runs keeps its own.
func (b binaries) release() { _ = b.use.Close() }

// run returns the executable and the arguments to run c with flags.
func (b binaries) run(c Component, flags []string) (string, []string) {
	if b.assets != "" && (c == Etcd || c == APIServer) {
		return filepath.Join(b.assets, string(c)), flags
	}
	return b.controlplane, append([]string{string(c)}, flags...)
}

func findBinaries(ctx context.Context, opts Options) (b binaries, err error) {
	if b.assets = os.Getenv("KUBEBUILDER_ASSETS"); b.assets != "" {
		for _, c := range []Component{Etcd, APIServer} {
			if err := executable(filepath.Join(b.assets, string(c))); err != nil {
				return b,
					fmt.Errorf(
						"KUBEBUILDER_ASSETS=%s should hold etcd and kube-apiserver: %w; unset it to build them instead",
						b.assets, err)
			}
		}
		fmt.Fprintln(opts.Progress, "using etcd and kube-apiserver from", b.assets)
		if b.assets, err = filepath.Abs(b.assets); err != nil {
			return b, err
		}
	}
	if opts.APIOnly && b.assets != "" {
		return b, nil
	}
	root, err := workspace.Root(".")
	if err != nil {
		return b, err
	}
	b.controlplane, b.use, err = build(ctx, filepath.Join(root, "scripts", "controlplane"), opts.Progress)
	return b, err
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not an executable file", path)
	}
	return nil
}
