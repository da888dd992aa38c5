// Tests of kind as a library, on an engine that is a shell script.

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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// name of the cluster.
const name = "informer-test"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// install makes shell scripts the only commands there are, and an empty folder
// the user's home, which it returns.
func install(t *testing.T, scripts map[string]string) (home string) {
	t.Helper()
	bin, home := t.TempDir(), t.TempDir()
	for name, script := range scripts {
		must.Do(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755))
	}
	t.Setenv("PATH", bin)
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KIND_NODE_IMAGE", "")
	return home
}

// docker is an engine with a container while the file node exists. More
// says what else it can do.
func docker(node, more string) string {
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
`, node, more)
}

func TestInterruptedCreate(t *testing.T) {
	node := filepath.Join(t.TempDir(), "node")
	home := install(t, map[string]string{"docker": docker(node, `
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
	expect.That(t, errors.Is(err, enough), "%v", err)
	if _, err := os.Stat(node); err == nil {
		t.Error("the node is still there")
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("in the user's home: %v, %v", left, err)
	}
}

func TestCreateFails(t *testing.T) {
	node := filepath.Join(t.TempDir(), "node")
	install(t, map[string]string{"docker": docker(node, `
run*) : > "$NODE"; echo no more containers today >&2; exit 125;;
`)})
	err := create(t.Context(), t)
	expect.That(t, err != nil && strings.Contains(err.Error(), "no more containers today"), "got %v", err)
	_, err = os.Stat(node)
	expect.That(t, err != nil, "the node is still there")
}

func create(ctx context.Context, t *testing.T) error {
	t.Helper()
	provider, err := Find()
	must.Do(t, err)
	return provider.Create(ctx, name, filepath.Join(t.TempDir(), "kubeconfig"), "kubectl")
}

func TestNoEngine(t *testing.T) {
	defer func(was time.Duration) { answerWithin = was }(answerWithin)
	answerWithin = 200 * time.Millisecond
	for what, commands := range map[string]map[string]string{
		"nothing installed":       nil,
		"a client without engine": {"docker": "[ $1 = -v ] && echo Docker version 9"},
		"an engine that hangs":    {"docker": "[ $1 = -v ] && echo Docker version 9 && exit; exec /bin/sleep 0.5"},
	} {
		install(t, commands)
		_, err := Find()
		expect.That(t, errors.Is(err, ErrNoEngine), "%s: %v", what, err)
	}
}
