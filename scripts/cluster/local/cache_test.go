// Tests of building into the cache, with a toy module in the control plane's place.

package local

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/informer/scripts/harness/workspace"
)

// toy is a module that requires Kubernetes as the control plane does, in words.
func toy(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/toy\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v1.99.3\n\nreplace " +
			"k8s.io/kubernetes => ./none\n",
		"main.go": source,
		// never looked into, but it has to be there
		"none/go.mod": "module k8s.io/kubernetes\n",
	} {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

const hello = "package main\n\nfunc main() { println(\"hello\") }\n"

// ownCache gives the test a cache directory of its own, and leaves go its own.
func ownCache(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	t.Setenv("XDG_CACHE_HOME", dir)
}

func buildAndLetGo(t *testing.T, source string) (string, error) {
	t.Helper()
	path, use, err := build(t.Context(), source, io.Discard)
	_ = use.Close()
	return path, err
}

func TestBuiltOnce(t *testing.T) {
	cache, source := t.TempDir(), toy(t, hello)
	ownCache(t, cache)
	var wg sync.WaitGroup
	var mu sync.Mutex
	paths, builds := map[string]bool{}, 0
	for range 2 { // at once
		wg.Go(func() {
			var progress bytes.Buffer
			path, use, err := build(t.Context(), source, &progress)
			if err != nil {
				t.Error(err)
			}
			defer use.Close()
			mu.Lock()
			defer mu.Unlock()
			paths[path] = true
			builds += strings.Count(progress.String(), "built in")
		})
	}
	wg.Wait()
	if len(paths) != 1 || builds != 1 {
		t.Fatalf("%d builds, paths %v", builds, paths)
	}
	for path := range paths {
		if !strings.HasPrefix(path, filepath.Join(cache, "informer-tutorial", "v1.99.3-")) {
			t.Errorf("built into %s", path)
		}
		if out, err := exec.Command(path).CombinedOutput(); string(out) != "hello\n" || err != nil {
			t.Errorf("it says %q, %v", out, err)
		}
		clone := toy(t, hello)
		if again, err := buildAndLetGo(t, clone); again != path || err != nil {
			t.Errorf("a fresh clone: %s, %v; want %s", again, err, path)
		}
		beside := toy(t, hello)
		write(t, filepath.Join(beside, "proof", "main.go"), hello+"// another program of the module\n")
		if again, err := buildAndLetGo(t, beside); again != path || err != nil {
			t.Errorf("beside another program: %s, %v; want %s", again, err, path)
		}
		changed := toy(t, hello+"// changed\n")
		if other, err := buildAndLetGo(t, changed); other == path || err != nil {
			t.Errorf("after a change: %s, %v", other, err)
		}
	}
}

func TestBuildFails(t *testing.T) {
	ownCache(t, t.TempDir())
	_, err := buildAndLetGo(t, toy(t, "package main\n\nfunc main() { undefinedName() }\n"))
	if err == nil || !strings.Contains(err.Error(), "undefinedName") ||
		strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("got %v", err)
	}
	_, err = buildAndLetGo(t, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("no sources: %v", err)
	}
}

func TestNoGo(t *testing.T) {
	ownCache(t, t.TempDir())
	t.Setenv("PATH", t.TempDir())
	_, err := buildAndLetGo(t, toy(t, hello))
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "Go") {
		t.Errorf("got %v", err)
	}
}

// TestInterruptedBuild has a go that starts a compiler and waits for it for ever.
func TestInterruptedBuild(t *testing.T) {
	ownCache(t, t.TempDir())
	bin := t.TempDir()
	script := `#!/bin/sh
case $1 in
env) echo some Go;;
build) sleep 1000 & echo $! > compiler.pid; wait;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	source := toy(t, hello)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	compiler := make(chan int, 1)
	go func() {
		defer cancel(enough)
		compiler <- awaitPid(ctx, filepath.Join(source, "compiler.pid"))
	}()
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if _, _, err := build(ctx, source, io.Discard); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	pid := <-compiler
	if pid == 0 {
		t.Fatal("the compiler never started")
	}
	started, _ := startTime(pid)
	if len(stillRunning([]target{record{PID: pid, Started: started}}, 10*time.Second)) != 0 {
		t.Error("the compiler was left running")
	}
}

// awaitPid waits for a script to write a pid to a file; 0 if it never does.
func awaitPid(ctx context.Context, path string) int {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		b, _ := os.ReadFile(path)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && b[len(b)-1] == '\n' {
			return pid
		}
		time.Sleep(time.Millisecond)
	}
	return 0
}

func TestHowFar(t *testing.T) {
	b := &builder{onLine: func(string) {}}
	for _, c := range []struct {
		output, want string
		do           func()
	}{
		{"", "", func() {}},
		{"go: downloading x v1\n", ", 1 modules downloaded", func() {}},
		{"go: downloading y v1\ngo: downloading z v1", ", 3 modules downloaded", func() {}},
		{"", ", 3 of 20 packages", func() { b.total, b.built = 20, 3 }},
		{"", ", linking", func() { b.built = 20 }},
	} {
		c.do()
		b.follow("building", strings.NewReader(c.output))
		if b.howFar() != c.want {
			t.Errorf("after %q: %q; want %q", c.output, b.howFar(), c.want)
		}
	}
}

func TestCacheDirectoryIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ownCache(t, file)
	_, err := buildAndLetGo(t, toy(t, hello))
	checkCacheError(t, err, file, "not a directory")
}

// checkCacheError wants two lines: what went wrong where, and the way out.
func checkCacheError(t *testing.T, err error, dir, reason string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{dir, reason, "XDG_CACHE_HOME"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n"); n > 2 {
		t.Errorf("%d lines: %v", n+1, err)
	}
}

func TestVersionOfTheRealSources(t *testing.T) {
	root, err := workspace.Root(".")
	if err != nil {
		t.Fatal(err)
	}
	version, err := kubernetesVersion(filepath.Join(root, "scripts", "controlplane"))
	if err != nil || version != "v1.37.1" {
		t.Errorf("got %q, %v", version, err)
	}
	want := "-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"
	if got := stamp(version); !strings.Contains(got, want) {
		t.Errorf("stamp: %s", got)
	}
}
