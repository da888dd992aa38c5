// Which files of the workspace may be shown.

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/informer/scripts/harness/workspace"
)

// refreshInterval is the least time between two looks at which files there are.
const refreshInterval = 2 * time.Second

// sources are the files that may be shown: those that git tracks, and new pages and pictures in
// docs, unless git ignores them. A kubeconfig, a key or a note that lies in the folder is not among
// them. Where there is no git, as in an archive, they are the files with the extensions of sources.
type sources struct {
	root *os.Root

	mu     sync.Mutex
	known  map[string]bool
	looked time.Time
}

func newSources(root *os.Root) *sources { return &sources{root: root} }

// allows reports whether a file may be shown. Whether it exists is another question: git may track a
// file that was deleted.
func (s *sources) allows(name string) bool {
	if _, file, ok := inExercise(name); ok && path.Ext(file) != ".md" {
		name = file
	}
	return fs.ValidPath(name) && !isHidden(name) && s.all(name)[name]
}

// exerciseFolder matches a file in the folder of an exercise. Such a folder has the files of the clone.
var exerciseFolder = regexp.MustCompile(
	`^(` + regexp.QuoteMeta(workspace.PracticeFolder) + `/[a-z]+(?:-[a-z]+)*)/(.+)$`)

// inExercise splits the name of a file in the folder of an exercise.
func inExercise(name string) (folder, file string, ok bool) {
	match := exerciseFolder.FindStringSubmatch(name)
	if match == nil {
		return "", "", false
	}
	return match[1], match[2], true
}

// below returns the files in a folder and below it, sorted.
func (s *sources) below(folder string) (files []string) {
	for name := range s.all("") {
		if strings.HasPrefix(name, folder+"/") {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}

// all returns all files. If it does not know a wanted one, it looks again: it may be new.
func (s *sources) all(wanted string) map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isKnown := s.known != nil && (wanted == "" || s.known[wanted])
	if !isKnown && time.Since(s.looked) > refreshInterval {
		s.known, s.looked = s.list(), time.Now()
	}
	return s.known
}

func (s *sources) list() map[string]bool {
	files := map[string]bool{}
	for _, args := range [][]string{
		{}, {"--others", "--exclude-standard", "docs/*.md", "docs/*.png", "docs/*.svg"},
	} {
		list := exec.Command("git", append([]string{"ls-files", "-z"}, args...)...)
		list.Dir = s.root.Name()
		output, err := list.Output()
		if err != nil {
			return s.walk()
		}
		for name := range bytes.SplitSeq(bytes.TrimRight(output, "\x00"), []byte{0}) {
			if len(name) > 0 && !isHidden(string(name)) {
				files[string(name)] = true
			}
		}
	}
	return files
}

var sourceExts = strings.Fields(".go .mod .sum .work .md .txt .sh .yaml .yml .json .js .css .html .svg .png")

// walk finds sources without git.
func (s *sources) walk() map[string]bool {
	files := map[string]bool{}
	_ = fs.WalkDir(s.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not shown
		case entry.IsDir() && isHidden(name):
			return fs.SkipDir
		case entry.Type().IsRegular() && !isHidden(name) && slices.Contains(sourceExts, path.Ext(name)):
			files[name] = true
		}
		return nil
	})
	return files
}

// isHidden reports whether a part of the path begins with a dot, such as .git and .cluster.
func isHidden(name string) bool { return name != "." && strings.Contains("/"+name, "/.") }
