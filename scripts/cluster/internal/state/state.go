// Package state knows what lies in the workspace's .cluster folder: which
// provider made the cluster, and where its kubeconfig is.
package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"example.com/informer/scripts/cluster/internal/filelock"
)

// Dir is a workspace's .cluster folder.
type Dir string

// Of returns the .cluster folder of the workspace at root.
func Of(root string) Dir { return Dir(filepath.Join(root, ".cluster")) }

// Kubeconfig is the file through which the chapters find the cluster.
func (d Dir) Kubeconfig() string { return filepath.Join(string(d), "kubeconfig") }

func (d Dir) providerFile() string { return filepath.Join(string(d), "provider") }

// Provider says which provider made the cluster here: "kind", "local", or ""
// where there is none.
func (d Dir) Provider() (string, error) {
	b, err := os.ReadFile(d.providerFile())
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// SetProvider records, before it begins to make anything, who makes the cluster.
func (d Dir) SetProvider(name string) error {
	return filelock.WriteFile(d.providerFile(), []byte(name+"\n"), 0o600)
}

// Clear removes all but the logs, which the next start replaces.
func (d Dir) Clear() error {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != "logs" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(string(d), e.Name())))
		}
	}
	return err
}

// Lock keeps other ups and downs out until release is called.
func (d Dir) Lock(ctx context.Context, progress io.Writer) (release func(), err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	return filelock.Acquire(ctx, string(d), func() {
		fmt.Fprintln(progress, "another up or down is at work here; waiting for it")
	})
}
