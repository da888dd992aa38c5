// Tests of builds, with a go that is a shell script.

package binaries

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// install makes a script the only go there is, and returns a workspace.
func install(t *testing.T, script string) {
	t.Helper()
	bin, root := t.TempDir(), t.TempDir()
	module := filepath.Join(root, "scripts", "controlplane")
	err := errors.Join(os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"+script), 0o755),
		os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644), os.MkdirAll(module, 0o755),
		os.WriteFile(filepath.Join(module, "go.mod"), []byte("module x\n\nrequire (\n\tk8s.io/kubernetes v1.37.1\n"+
			"\tgo.etcd.io/etcd/server/v3 v3.7.3\n\tsigs.k8s.io/kwok v0.8.0 // indirect\n)\n"), 0o644))
	must.Do(t, err)
	t.Setenv("PATH", bin)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(root)
}

const goScript = `
case $1 in
list) echo go: downloading x; echo a; echo b;;
build)
	echo a; echo b
	[ -z "$FAILS" ] || { echo no space left; exit 1; }
	while [ "$1" != -o ]; do shift; done
	: > "$2/server"; : > "$2/kubectl";;
esac
`

func TestGetBuildsOnce(t *testing.T) {
	install(t, goScript)
	for i := range 2 {
		var progress strings.Builder
		folder, err := Get(t.Context(), Options{Build: true, Progress: &progress}, "etcd", "kubectl")
		must.Do(t, err)
		for _, name := range []string{"etcd", "kubectl"} {
			if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
				t.Error(err)
			}
		}
		built := strings.Contains(progress.String(), "building etcd, kubectl")
		expect.That(t, built == (i == 0), "call %d: %s", i, &progress)
		left, err := filepath.Glob(folder + "/.new-*")
		expect.That(t, len(left) <= 0 && err == nil, "left: %v, %v", left, err)
	}
}

func TestBuildThatFails(t *testing.T) {
	install(t, goScript)
	t.Setenv("FAILS", "yes")
	_, err := Get(t.Context(), Options{Build: true, Progress: t.Output()}, "kubectl")
	if err == nil || !strings.Contains(err.Error(), "go build in") || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

func TestBuildThatIsInterrupted(t *testing.T) {
	install(t, "echo started > started; exec /bin/sleep 60")
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat("scripts/controlplane/started"); err == nil {
				cancel(enough)
			}
		}
	}()
	_, err := Get(ctx, Options{Build: true, Progress: t.Output()}, "kubectl")
	expect.That(t, errors.Is(err, enough), "got %v", err)
}

func TestKubectlFits(t *testing.T) {
	for minor, want := range map[string]bool{"35": false, "36": true, "37": true, "38": true, "39": false, "x": false} {
		kubectl := filepath.Join(t.TempDir(), "kubectl")
		script := "#!/bin/sh\necho Client Version: v1." + minor + ".4-dispatcher\necho Kustomize Version: v5.5.0\n"
		must.Do(t, os.WriteFile(kubectl, []byte(script), 0o755))
		got := fits(t.Context(), kubectl, "v1.37.1")
		expect.That(t, got == want, "1.%s: %t", minor, got)
	}
}
