// Package binaries gets the programs of a cluster into the user's cache. It downloads released
// programs. Where the network does not have them, it builds them from Go modules.
package binaries

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// ControlPlane are the programs of a cluster without containers.
var ControlPlane = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kwokctl"}

// Options of Get.
type Options struct {
	Build    bool      // build from Go modules, even where the programs can be downloaded
	Progress io.Writer // takes a line for each thing that takes long
}

// Get returns the folder that holds these programs. The cache keeps the programs of each version,
// so that only the first call takes long.
func Get(ctx context.Context, options Options, names ...string) (folder string, err error) {
	s, err := findSource()
	if err != nil {
		return "", err
	}
	missing := slices.DeleteFunc(slices.Clone(names), s.cached)
	if len(missing) == 0 {
		return s.folder, nil
	}
	scratch, err := makeScratch(s.folder)
	if err != nil {
		return "", fmt.Errorf("the programs of the cluster cannot be kept: %w\n"+
			"make room there or make it writable, or set XDG_CACHE_HOME to another folder", err)
	}
	defer os.RemoveAll(scratch)
	if err := s.downloadOrBuild(ctx, options, missing, scratch); err != nil {
		return "", err
	}
	for _, name := range missing {
		// If another process was faster, this replaces its program by the same program.
		if err := os.Rename(filepath.Join(scratch, name), filepath.Join(s.folder, name)); err != nil {
			return "", err
		}
	}
	return s.folder, nil
}

// makeScratch makes a temporary folder inside folder, and folder itself if it is missing. Both are
// on the same disk, so that a finished program can be renamed from one into the other.
func makeScratch(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(folder, ".new-")
}

// downloadOrBuild puts programs into a folder. It builds those that cannot be downloaded, or all of
// them if the options ask for that.
func (s *source) downloadOrBuild(ctx context.Context, options Options, names []string, folder string) error {
	if options.Build {
		fmt.Fprintln(options.Progress, "-build was given")
	} else {
		names = s.download(ctx, names, folder, options.Progress)
	}
	if len(names) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.build(ctx, names, folder, options.Progress)
}
