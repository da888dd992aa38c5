// The cache of built control planes, in the user's cache directory: built once
// per version of Kubernetes, of Go, and of the sources in scripts/controlplane.

package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/informer/scripts/cluster/internal/filelock"
)

// build returns the controlplane binary made of the module in source, from the
// cache or else by building it there. It stays in the cache for as long as this
// process, or a child that inherits it, has use open.
func build(ctx context.Context, source string, progress io.Writer) (target string, use *os.File, err error) {
	version, err := kubernetesVersion(source)
	if err != nil {
		return "", nil, err
	}
	hash, err := fingerprint(ctx, source)
	if err != nil {
		return "", nil, err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", nil, err
	}
	dir := filepath.Join(cache, version+"-"+hash)
	release, err := lockFolder(ctx, dir, func() {
		fmt.Fprintln(progress, "another process is building the control plane; waiting for it")
	})
	if err != nil {
		return "", nil, err
	}
	defer release()
	target = filepath.Join(dir, "controlplane")
	if executable(target) != nil {
		fmt.Fprintf(progress, "building the control plane, Kubernetes %s, into %s: minutes now, seconds from then on\n",
			version, dir)
		if err := buildInto(ctx, source, target, version, progress); err != nil {
			return "", nil, err
		}
		prune(cache, dir)
	}
	use, err = filelock.Share(target)
	return target, use, err
}

// lockFolder makes the folder dir of the cache, if need be, and locks it.
func lockFolder(ctx context.Context, dir string, busy func()) (release func(), err error) {
	for {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, cacheError(filepath.Dir(dir), err)
		}
		release, err := filelock.Acquire(ctx, dir, busy)
		if !errors.Is(err, os.ErrNotExist) { // else another process pruned it
			return release, err
		}
	}
}

func buildInto(ctx context.Context, source, target, version string, progress io.Writer) error {
	scratch, err := os.MkdirTemp("", "informer-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	built := filepath.Join(scratch, "controlplane")
	if err := goBuild(ctx, source, built, stamp(version), progress); err != nil {
		return err
	}
	if err := install(built, target); err != nil {
		return cacheError(filepath.Dir(filepath.Dir(target)), err)
	}
	return nil
}

var cacheFolder = regexp.MustCompile(`^v\d+\.\d+\.\S+-[0-9a-f]{12}$`)

// prune removes the control planes that were built before the one in the folder
// keep, but for those that somebody uses or builds. What it cannot remove stays
// for the next time, and so does what is not ours.
func prune(cache, keep string) {
	folders, _ := os.ReadDir(cache)
	for _, f := range folders {
		if dir := filepath.Join(cache, f.Name()); f.IsDir() && dir != keep && cacheFolder.MatchString(f.Name()) {
			removeUnused(dir)
		}
	}
}

func removeUnused(dir string) {
	release, err := filelock.TryAcquire(dir)
	if err != nil {
		return
	}
	defer release()
	target := filepath.Join(dir, "controlplane")
	if used, err := filelock.Shared(target); used || err != nil {
		return
	}
	// Linux lets nobody write to a program that runs, even if it was started
	// without the lock.
	if f, err := os.OpenFile(target, os.O_WRONLY, 0); err == nil {
		f.Close()
	} else if !errors.Is(err, os.ErrNotExist) {
		return
	}
	_ = os.Remove(target)
	_ = os.Remove(filelock.Partial(target))
	_ = os.Remove(dir) // refused while it holds anything else
}

// install copies a binary to target, where it appears whole or not at all.
func install(built, target string) error {
	binary, err := os.ReadFile(built)
	if err != nil {
		return err
	}
	return filelock.WriteFile(target, binary, 0o755)
}

// cacheDir honours $XDG_CACHE_HOME on macOS too, so that the way out that
// cacheError names works everywhere.
func cacheDir() (string, error) {
	dir := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("no cache directory for the built control plane: %w", err)
		}
	}
	return filepath.Join(dir, "informer-tutorial"), nil
}

func cacheError(dir string, err error) error {
	return fmt.Errorf("cannot keep the built control plane in the cache directory %s: %w\n"+
		"make room there or make it writable, or set XDG_CACHE_HOME to another folder", dir, err)
}

var required = regexp.MustCompile(`(?m)^\s*(?:require\s+)?k8s\.io/kubernetes (v(\d+)\.(\d+)\S*)`)

// kubernetesVersion reads from go.mod which Kubernetes the module builds.
func kubernetesVersion(source string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("the sources of the control plane: %w", err)
	}
	m := required.FindSubmatch(mod)
	if m == nil {
		return "", fmt.Errorf("%s/go.mod does not require k8s.io/kubernetes", source)
	}
	return string(m[1]), nil
}

// stamp returns the linker flags that make the binaries print their version.
func stamp(version string) string {
	const pkg = "k8s.io/component-base/version."
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join([]string{
		"-s -w",
		"-X " + pkg + "gitVersion=" + version,
		"-X " + pkg + "gitMajor=" + parts[0],
		"-X " + pkg + "gitMinor=" + parts[1],
		"-X " + pkg + "gitTreeState=clean",
	}, " ")
}

// fingerprint is a short hash of all that decides what the binary becomes.
func fingerprint(ctx context.Context, source string) (string, error) {
	env := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED")
	env.Dir = source
	env.Env = append(os.Environ(), "GOWORK=off")
	toolchain, err := env.Output()
	if err != nil {
		return "", fmt.Errorf("building the control plane needs Go; go env: %w", err)
	}
	hash := sha256.New()
	hash.Write(toolchain)
	err = fs.WalkDir(os.DirFS(source), ".", func(path string, d fs.DirEntry, err error) error {
		if path == "proof" && d.IsDir() {
			return fs.SkipDir // another program, no part of the binary
		}
		if err != nil || d.IsDir() || !matters(d.Name()) {
			return err
		}
		content, err := os.ReadFile(filepath.Join(source, path))
		fmt.Fprintf(hash, "%s %d\n%s", path, len(content), content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the sources of the control plane: %w", err)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:12], nil
}

// matters reports whether a file of the module has a part in the binary.
func matters(name string) bool {
	return name == "go.mod" || name == "go.sum" ||
		strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}
