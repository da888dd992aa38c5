// Writing pages back to disk.

package book

import (
	"fmt"
	"os"
	"path/filepath"
)

// Rewrite brings the embedded blocks of all pages below root in step and
// returns the pages it changed. A page with a broken directive or a block that
// nobody owns is left as it is: Problems says what to mend first.
func Rewrite(root string) (changed []string, err error) {
	b, err := Load(os.DirFS(root))
	if err != nil {
		return nil, err
	}
	for _, p := range b.pages {
		text, stale, _ := b.render(p)
		if len(stale) == 0 {
			continue
		}
		if err := writeFile(filepath.Join(root, filepath.FromSlash(p.name)), text); err != nil {
			return changed, err
		}
		changed = append(changed, p.name)
	}
	return changed, nil
}

// writeFile replaces the file in one move, so that a reader or an interrupt
// never sees half a page; the file keeps its mode.
func writeFile(name, text string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("rewriting %s: %w", name, err)
		}
	}()
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".page-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails, rightly, once the file has its new name
	_, err = temp.WriteString(text)
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Chmod(temp.Name(), info.Mode().Perm()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}
