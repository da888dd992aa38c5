// Waiting until the server serves the types that a file has defined.

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// awaitDefined waits until the server serves each type that a CustomResourceDefinition in the file
// of args has defined. Until then, a LIST of the type is answered with 404, and a step that begins
// with this LIST would fail. The caller holds mu.
func (s *Session) awaitDefined(ctx context.Context, args []string) error {
	i := slices.Index(args, "-f") + 1
	if i == 0 || i == len(args) {
		return nil
	}
	paths, err := definedPaths(filepath.Join(s.dir, args[i]))
	for _, path := range paths {
		if _, err := s.runUntilServed(ctx, "get", []string{"--raw", path + "?limit=1"}); err != nil {
			return err
		}
	}
	return err
}

// definedPaths returns the path of each type that the CustomResourceDefinitions in a file define.
func definedPaths(name string) (paths []string, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // kubectl has read an address or a path of its own
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		var definition struct {
			Kind string
			Spec struct {
				Group    string
				Names    struct{ Plural string }
				Versions []struct {
					Name   string
					Served bool
				}
			}
		}
		err := decoder.Decode(&definition)
		if errors.Is(err, io.EOF) {
			return paths, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if definition.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, version := range definition.Spec.Versions {
			if version.Served {
				paths = append(paths, fmt.Sprintf("/apis/%s/%s/%s",
					definition.Spec.Group, version.Name, definition.Spec.Names.Plural))
			}
		}
	}
}
