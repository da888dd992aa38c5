// Tests that old control planes leave the cache, and only those.

package local

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/informer/scripts/cluster/internal/filelock"
)

// inCache lists what the cache holds, but for the folder of the binary at built.
func inCache(t *testing.T, cache, built string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(cache), ".", func(path string, d fs.DirEntry, err error) error {
		if filepath.Join(cache, path) == filepath.Dir(built) {
			return fs.SkipDir
		}
		if !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNewBinaryReplacesOldOnes(t *testing.T) {
	home := t.TempDir()
	ownCache(t, home)
	cache := filepath.Join(home, "informer-tutorial")
	put := func(names ...string) {
		for _, name := range names {
			write(t, filepath.Join(cache, name), "")
		}
	}
	const idle, cutShort, held, built, foreign = "v1.98.0-000000000001", "v1.98.0-000000000002",
		"v1.98.0-000000000003", "v1.98.0-000000000004", "v1.98.0-000000000005"
	put(idle+"/controlplane", cutShort+"/controlplane.partial", held+"/controlplane", built+"/controlplane.partial",
		foreign+"/controlplane", foreign+"/note", "notes/controlplane", "v1.98.0-00000000000a",
		"v2-somebody's/controlplane")
	notOurs := []string{"notes/controlplane", foreign + "/note", "v1.98.0-00000000000a", "v2-somebody's/controlplane"}

	use, err := filelock.Share(filepath.Join(cache, held, "controlplane"))
	if err != nil {
		t.Fatal(err)
	}
	release, err := filelock.TryAcquire(filepath.Join(cache, built))
	if err != nil {
		t.Fatal(err)
	}
	check := func(source string, stays ...string) {
		t.Helper()
		path, err := buildAndLetGo(t, toy(t, source))
		if err != nil {
			t.Fatal(err)
		}
		stays = append(stays, notOurs...)
		slices.Sort(stays)
		if got := inCache(t, cache, path); !slices.Equal(got, stays) {
			t.Errorf("besides the new one the cache holds:\n%s\nwant:\n%s",
				strings.Join(got, "\n"), strings.Join(stays, "\n"))
		}
	}
	check(hello, held+"/controlplane", built+"/controlplane.partial")
	release()
	if err := use.Close(); err != nil {
		t.Fatal(err)
	}
	check(hello + "// changed\n") // and the one that check built before is gone too
}

// A component keeps its binary in the cache even when the process that started
// it has ended.
func TestComponentsKeepTheirBinary(t *testing.T) {
	dir := t.TempDir()
	if err := clean(dir); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "v1.98.0-000000000001", "controlplane")
	write(t, binary, "")
	use, err := filelock.Share(binary)
	if err != nil {
		t.Fatal(err)
	}
	cp := &ControlPlane{opts: Options{Dir: dir}, binaries: binaries{controlplane: binary, use: use}}
	p, err := cp.startProcess(Node, "sleep", []string{"1000"})
	if err != nil {
		t.Fatal(err)
	}
	cp.binaries.release()
	prune(filepath.Dir(filepath.Dir(binary)), "")
	if _, err := os.Stat(binary); err != nil {
		t.Errorf("the binary of a component that runs: %v", err)
	}
	if err := kill([]target{p}); err != nil {
		t.Fatal(err)
	}
	prune(filepath.Dir(filepath.Dir(binary)), "")
	if _, err := os.Stat(filepath.Dir(binary)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end of the component: %v", err)
	}
}

// A program that was started by hand, or before there was a lock.
func TestBinaryThatRunsWithoutTheLockStays(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports that a file is being executed")
	}
	cache := t.TempDir()
	binary := filepath.Join(cache, "v1.98.0-000000000001", "controlplane")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	write(t, binary, "")
	if err := install(sleep, binary); err != nil {
		t.Fatal(err)
	}
	running := exec.Command(binary, "1000")
	running.Args[0] = "sleep" // one binary may be many programs, and go by this name
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	prune(cache, "")
	if _, err := os.Stat(binary); err != nil {
		t.Error(err)
	}
	_ = running.Process.Kill()
	_ = running.Wait()
	prune(cache, "")
	if _, err := os.Stat(binary); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after its end: %v", err)
	}
}
