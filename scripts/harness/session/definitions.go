// Waiting until the server serves the type that a file has defined.

package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// A definition is what has to be known of a CustomResourceDefinition. It has no versions if it is an
// object of another kind.
type definition struct {
	Spec struct {
		Group    string
		Names    struct{ Plural string }
		Versions []struct{ Name string }
	}
}

// awaitDefined waits until the server serves the type that the file of args has defined, if it is a
// definition. Until then, a LIST of the type is answered with 404, and a step that begins with this
// LIST would fail. The caller holds mu.
func (s *Session) awaitDefined(ctx context.Context, args []string) error {
	i := slices.Index(args, "-f") + 1
	if i == 0 || i == len(args) {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(s.dir, args[i]))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // kubectl has read an address or a path of its own
	}
	var defined definition
	if err := errors.Join(err, yaml.Unmarshal(text, &defined)); err != nil {
		return fmt.Errorf("reading %s: %w", args[i], err)
	}
	for _, version := range defined.Spec.Versions {
		path := fmt.Sprintf("/apis/%s/%s/%s?limit=1", defined.Spec.Group, version.Name, defined.Spec.Names.Plural)
		if _, err := s.runUntilServed(ctx, "get", []string{"--raw", path}); err != nil {
			return err
		}
	}
	return nil
}
