// Tests of kind as a library, with a shell script in the place of docker.

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
)

const clusterName = "informer-test"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// installCommands makes shell scripts the only commands in PATH. It makes an empty folder the
// user's home, and returns that folder.
func installCommands(t *testing.T, scripts map[string]string) (home string) {
	t.Helper()
	bin, home := t.TempDir(), t.TempDir()
	for name, script := range scripts {
		must.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755))
	}
	t.Setenv("PATH", bin)
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KIND_NODE_IMAGE", "")
	return home
}

// docker returns a script that has one container while the file node exists. moreCases are more
// cases of the script.
func docker(node, moreCases string) string {
	return fmt.Sprintf(`
NODE='%s'
case "$*" in
-v) echo Docker version 99;;
%s
"ps --quiet") ;;
ps*) [ ! -e "$NODE" ] || echo informer-test-control-plane;;
"rm -f"*) /bin/rm -f "$NODE";;
info*) echo '{"CgroupVersion": "2"}';;
esac
`, node, moreCases)
}

func TestInterruptedCreate(t *testing.T) {
	node := filepath.Join(t.TempDir(), "node")
	home := installCommands(t, map[string]string{"docker": docker(node, `
run*) : > "$NODE"; while [ -e "$NODE" ]; do /bin/sleep 0.01; done; echo the container is gone >&2; exit 1;;
`)})
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(node); err == nil {
				cancel(enough)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	err := create(ctx, t)
	cancel(nil)
	if !errors.Is(err, enough) {
		t.Errorf("Create() after an interrupt: error %v, want %v", err, enough)
	}
	wantNoNode(t, node)
	if files, err := os.ReadDir(home); err != nil || len(files) != 0 {
		t.Errorf("the user's home has the files %v (error: %v), want none", files, err)
	}
}

// wantNoNode wants that the container of the cluster was removed.
func wantNoNode(t *testing.T, node string) {
	t.Helper()
	if _, err := os.Stat(node); !os.IsNotExist(err) {
		t.Errorf("stat of the file that stands for the container: error %v, want %v", err, os.ErrNotExist)
	}
}

func TestCreateFails(t *testing.T) {
	node := filepath.Join(t.TempDir(), "node")
	installCommands(t, map[string]string{"docker": docker(node, `
run*) : > "$NODE"; echo no more containers today >&2; exit 125;;
`)})
	err := create(t.Context(), t)
	if want := "no more containers today"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Create() = %v, want an error with %q", err, want)
	}
	wantNoNode(t, node)
}

func create(ctx context.Context, t *testing.T) error {
	t.Helper()
	provider, err := Find()
	must.NoError(t, err)
	return provider.Create(ctx, clusterName, filepath.Join(t.TempDir(), "kubeconfig"), "kubectl")
}

func TestNoEngine(t *testing.T) {
	oldTimeout := answerWithin
	t.Cleanup(func() { answerWithin = oldTimeout })
	answerWithin = 200 * time.Millisecond
	for name, commands := range map[string]map[string]string{
		"nothing is installed":       nil,
		"a client without an engine": {"docker": "[ $1 = -v ] && echo Docker version 9"},
		"an engine that hangs":       {"docker": "[ $1 = -v ] && echo Docker version 9 && exit; exec /bin/sleep 0.5"},
	} {
		t.Run(name, func(t *testing.T) {
			installCommands(t, commands)
			if _, err := Find(); !errors.Is(err, ErrNoEngine) {
				t.Errorf("Find() = %v, want %v", err, ErrNoEngine)
			}
		})
	}
}
