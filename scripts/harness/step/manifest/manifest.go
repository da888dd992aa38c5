// Package manifest has the steps of all programs, so that a tool need not build the programs to know
// them. The programs write the file (see package play), and their tests check that it is up to date.
package manifest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// File is the path of the manifest in the workspace.
const File = "docs/steps.json"

// A Manifest has the steps of each program, in reading order. A program is named by its folder, such
// as "08-factory/controller".
type Manifest map[string][]Step

// A Step is one step of a program.
type Step struct {
	Name         string `json:"name"`
	Title        string `json:"title"`
	NeedsCluster bool   `json:"needsCluster,omitempty"`
	HasCommands  bool   `json:"hasCommands,omitempty"` // its transcript has commands for the step while it runs
}

// Read reads the manifest of a workspace.
func Read(workspace fs.FS) (Manifest, error) {
	text, err := fs.ReadFile(workspace, File)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	return m, nil
}

// Find returns a step of a program.
func (m Manifest) Find(program, step string) (s Step, ok bool) {
	for _, s := range m[program] {
		if s.Name == step {
			return s, true
		}
	}
	return Step{}, false
}

// InOwnModule reports whether a program is a module below a chapter. Such a module is not in go.work, and
// so `go run ./PROGRAM` does not run it.
func InOwnModule(workspace fs.FS, program string) bool {
	_, err := fs.Stat(workspace, program+"/go.mod")
	return strings.Contains(program, "/") && err == nil
}

// String returns the text of the file.
func (m Manifest) String() string {
	text, _ := json.MarshalIndent(m, "", "\t") // it has only strings and booleans
	return string(text) + "\n"
}
