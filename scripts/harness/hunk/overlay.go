package hunk

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Overlay writes a file for go's flag -overlay into dir, and returns its path. The overlay replaces
// files below root by these texts. An empty text means that there is no such file. The compiler names
// the files below root, not those that replace them. Without texts there is no overlay, and no path.
func Overlay(root, dir string, texts map[string]string) (file string, err error) {
	if len(texts) == 0 {
		return "", nil
	}
	replace := map[string]string{}
	for name, text := range texts {
		replacement := ""
		if text != "" {
			if filepath.Ext(name) == ".go" {
				text = fmt.Sprintf("//line %s:1:1\n%s", filepath.Join(root, name), text)
			}
			replacement = filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(name)))
			if err := os.WriteFile(replacement, []byte(text), 0o600); err != nil {
				return "", err
			}
		}
		replace[filepath.Join(root, name)] = replacement
	}
	overlay, _ := json.Marshal(map[string]any{"Replace": replace}) // strings can always be marshaled
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o600)
}
