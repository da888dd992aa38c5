// The manifest of the steps, which other tools read: see package manifest.

package play

import (
	"fmt"
	"io/fs"
	"os"
	"slices"

	"example.com/informer/scripts/harness/step/manifest"
	"example.com/informer/scripts/harness/workspace"
)

// manifest returns what the manifest has to say about the steps of the chapter.
func (c Chapter) manifest() (steps []manifest.Step, err error) {
	for _, s := range c.Steps {
		t, err := c.readTranscript(s)
		if err != nil {
			return nil, fmt.Errorf("%s/testdata/%s.txt: %w", c.Name, s.Name, err)
		}
		steps = append(steps, manifest.Step{
			Name: s.Name, Title: s.Title, NeedsCluster: c.needsCluster(s), HasCommands: t.hasCommands(),
		})
	}
	return steps, nil
}

// CheckManifest returns an error if the manifest of the workspace does not have the steps of the
// chapter as they are.
func (c Chapter) CheckManifest(root fs.FS) error {
	_, changed, err := c.updateManifest(root)
	if err == nil && changed {
		err = fmt.Errorf("%s does not have the steps of %s as they are: `go run ./%s -list -update` writes them",
			manifest.File, c.Name, c.Name)
	}
	return err
}

// updateManifest returns the manifest with the steps of the chapter as they are.
func (c Chapter) updateManifest(root fs.FS) (m manifest.Manifest, changed bool, err error) {
	m, err = manifest.Read(root)
	if err != nil {
		return nil, false, err
	}
	steps, err := c.manifest()
	changed = !slices.Equal(m[c.Name], steps)
	m[c.Name] = steps
	return m, changed, err
}

// writeManifest writes the manifest of the workspace again, if it changes.
func (r *runner) writeManifest() error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	m, changed, err := r.chapter.updateManifest(os.DirFS(root))
	if err != nil || !changed {
		return err
	}
	return r.write(manifest.File, m.String())
}
