// Tests of builds, with a shell script in the place of go.

package binaries

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
)

const controlPlaneMod = `module x

require (
	k8s.io/kubernetes v1.37.1
	go.etcd.io/etcd/server/v3 v3.7.3
	sigs.k8s.io/kwok v0.8.0 // indirect
)
`

// installGo makes a script the only go in PATH, and works in a new workspace with an empty cache.
func installGo(t *testing.T, script string) {
	t.Helper()
	bin, root := t.TempDir(), t.TempDir()
	module := filepath.Join(root, "scripts", "controlplane")
	must.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"+script), 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	must.NoError(t, os.MkdirAll(module, 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(module, "go.mod"), []byte(controlPlaneMod), 0o644))
	t.Setenv("PATH", bin)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(root)
}

// goScript builds programs, each under the name of its package.
const goScript = `
case $1 in
list) echo go: downloading x; echo a; echo b;;
build)
	echo a; echo b
	[ -z "$FAILS" ] || { echo no space left; exit 1; }
	while [ "$1" != -o ]; do shift; done
	folder=$2
	shift 2
	for package; do
		package=${package%/v3}
		echo built > "$folder/${package##*/}"
	done
	/bin/chmod 700 "$folder"/*;;
esac
`

func TestGetBuildsOnce(t *testing.T) {
	installGo(t, goScript)
	for _, test := range []struct {
		call   string
		builds bool
	}{
		{call: "first", builds: true},
		{call: "second", builds: false},
	} {
		t.Run(test.call, func(t *testing.T) {
			var progress strings.Builder
			folder, err := Get(t.Context(), Options{Build: true, Progress: &progress}, "etcd", "kubectl")
			must.NoError(t, err)
			for _, name := range []string{"etcd", "kubectl"} {
				if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
					t.Errorf("Get has put no %s into its folder: %v", name, err)
				}
			}
			const building = "building etcd, kubectl"
			if builds := strings.Contains(progress.String(), building); builds != test.builds {
				t.Errorf("progress contains %q: %t, want %t; progress:\n%s", building, builds, test.builds, &progress)
			}
			left, err := filepath.Glob(folder + "/.new-*")
			must.NoError(t, err)
			if len(left) > 0 {
				t.Errorf("temporary folders are left: %q, want none", left)
			}
		})
	}
}

// A relative path would be a folder in the clone.
func TestARelativeCacheIsRefused(t *testing.T) {
	installGo(t, goScript)
	t.Setenv("XDG_CACHE_HOME", "cache")
	_, err := Get(t.Context(), Options{Build: true, Progress: t.Output()}, "kubectl")
	wantError(t, err, `XDG_CACHE_HOME is the relative path "cache"`)
	if _, err := os.Stat("cache"); !os.IsNotExist(err) {
		t.Errorf("stat of the folder: error %v, want %v", err, os.ErrNotExist)
	}
}

func TestBuildThatFails(t *testing.T) {
	installGo(t, goScript)
	t.Setenv("FAILS", "yes")
	_, err := Get(t.Context(), Options{Build: true, Progress: t.Output()}, "kubectl")
	wantError(t, err, "go build in", "no space left")
}

// wantError fails the test unless err has each of these texts in it.
func wantError(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("got no error, want one with %q", texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("got error %q, want one with %q", err, text)
		}
	}
}

// When ctx ends, go may clean up. When go has ended, its compilers end, too.
func TestBuildThatIsInterrupted(t *testing.T) {
	const compiler = `/bin/sh -c 'trap "" INT; echo $$ > pid; exec /bin/sleep 60' > /dev/null 2>&1 &`
	installGo(t, compiler+"\nwhile [ ! -s pid ]; do :; done; echo started > started; exec /bin/sleep 60")
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat("scripts/controlplane/started"); err == nil {
				cancel(enough)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := Get(ctx, Options{Build: true, Progress: t.Output()}, "kubectl")
	returned := time.Now()
	if !errors.Is(err, enough) {
		t.Errorf("Get() after an interrupt: error %v, want %v", err, enough)
	}
	pid, err := os.ReadFile("scripts/controlplane/pid")
	must.NoError(t, err)
	must.Until(t, "the compiler has ended", func() bool {
		state, _ := exec.Command("/bin/ps", "-o", "stat=", "-p", strings.TrimSpace(string(pid))).Output()
		return len(state) == 0 || state[0] == 'Z' // this machine may have nobody who waits for it
	})
	if took := time.Since(returned); took >= cancelGrace {
		t.Errorf("the compiler has ended %v after Get, which must not leave it running", took)
	}
}
