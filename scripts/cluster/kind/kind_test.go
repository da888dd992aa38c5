// Tests of kind as a library, on an engine that is a shell script.

package kind

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// install makes shell scripts the only commands there are, and an empty folder
// the user's home, which it returns.
func install(t *testing.T, scripts map[string]string) (home string) {
	t.Helper()
	bin, home := t.TempDir(), t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KIND_NODE_IMAGE", "")
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "")
	return home
}

// docker is an engine with a container while the file node exists. It writes
// down all that it is asked to do; more says what else it can do.
func docker(node, more string) string {
	return fmt.Sprintf(`
NODE=%s
echo "$*" >> $NODE.calls
case "$*" in
-v) echo Docker version 99;;
%s
"ps --quiet") ;;
ps*) [ ! -e $NODE ] || echo informer-control-plane;;
"rm -f"*) /bin/rm -f $NODE;;
info*) echo '{"CgroupVersion": "2"}';;
esac
`, node, more)
}

func asked(t *testing.T, node string) string {
	t.Helper()
	b, err := os.ReadFile(node + ".calls")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// apiServer answers as that of a cluster that is ready.
func apiServer(t *testing.T) (port string, ca []byte) {
	answers := map[string]string{
		"/readyz": "ok",
		"/api/v1/nodes": `{"kind":"NodeList","apiVersion":"v1",
			"items":[{"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`,
		"/api/v1/namespaces/default/serviceaccounts/default":     `{"kind":"ServiceAccount","apiVersion":"v1"}`,
		"/api/v1/namespaces/default/configmaps/kube-root-ca.crt": `{"kind":"ConfigMap","apiVersion":"v1"}`,
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answers[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server.URL[strings.LastIndexByte(server.URL, ':')+1:], ca
}

func adminConfig(server string, ca []byte) *api.Config {
	c := api.NewConfig()
	c.Clusters["kubernetes"] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	c.AuthInfos["kubernetes-admin"] = &api.AuthInfo{Token: "good"}
	c.Contexts["kubernetes-admin@kubernetes"] = &api.Context{Cluster: "kubernetes", AuthInfo: "kubernetes-admin"}
	c.CurrentContext = "kubernetes-admin@kubernetes"
	return c
}

// existing is what an engine with a node answers about it.
func existing(t *testing.T, port string, ca []byte) string {
	admin := filepath.Join(t.TempDir(), "admin.conf")
	config := adminConfig("https://in-the-container:6443", ca)
	if err := clientcmd.WriteToFile(*config, admin); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`
*io.x-k8s.kind.role*) echo control-plane;;
*/etc/kubernetes/admin.conf) /bin/cat %s;;
*desktop.docker.io*) echo;;
*NetworkSettings.Ports*) printf '127.0.0.1\t%s\n';;
`, admin, port)
}

func TestUpOnTheClusterThatIsThere(t *testing.T) {
	port, ca := apiServer(t)
	node := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(node, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	home := install(t, map[string]string{"docker": docker(node, existing(t, port, ca))})
	kubeconfig := filepath.Join(t.TempDir(), "new", "kubeconfig")
	for range 2 {
		made, err := Up(t.Context(), kubeconfig, io.Discard)
		if made || err != nil {
			t.Fatal(made, err)
		}
	}
	if !strings.Contains(asked(t, node), "start informer-control-plane") {
		t.Error("the node was not started, which it may need after a reboot")
	}
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil || config.CurrentContext != "kind-informer" {
		t.Fatalf("kubeconfig: %v, %v", config, err)
	}
	if got := config.Clusters["kind-informer"].Server; got != "https://127.0.0.1:"+port {
		t.Errorf("server %s", got)
	}
	if info, err := os.Stat(kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	if was, err := Down(t.Context(), io.Discard); !was || err != nil {
		t.Errorf("down: %v, %v", was, err)
	}
	if was, err := Down(t.Context(), io.Discard); was || err != nil {
		t.Errorf("down again: %v, %v", was, err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("in the user's home: %v, %v", left, err)
	}
}

func TestInterruptedCreate(t *testing.T) {
	node := filepath.Join(t.TempDir(), "node")
	home := install(t, map[string]string{"docker": docker(node, `
run*) : > $NODE; while [ -e $NODE ]; do /bin/sleep 0.01; done; echo the container is gone >&2; exit 1;;
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
	var progress bytes.Buffer
	made, err := Up(ctx, filepath.Join(t.TempDir(), "kubeconfig"), &progress)
	cancel(nil)
	if made || !errors.Is(err, enough) {
		t.Errorf("made %v, %v", made, err)
	}
	if _, err := os.Stat(node); err == nil {
		t.Error("the node is still there")
	}
	if !strings.Contains(progress.String(), "kind: Preparing nodes\n") {
		t.Errorf("progress:\n%s", progress.String())
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("in the user's home: %v, %v", left, err)
	}
}

func TestCreateFails(t *testing.T) {
	node := filepath.Join(t.TempDir(), "node")
	install(t, map[string]string{"docker": docker(node, `
run*) : > $NODE; echo no more containers today >&2; exit 125;;
`)})
	_, err := Up(t.Context(), filepath.Join(t.TempDir(), "kubeconfig"), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no more containers today") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(node); err == nil {
		t.Error("the node is still there")
	}
}

func TestImageCannotBeHad(t *testing.T) {
	node := filepath.Join(t.TempDir(), "node")
	install(t, map[string]string{"docker": docker(node, `
"image inspect"*) exit 1;;
pull*) echo Trying; echo no such image anywhere >&2; exit 1;;
`)})
	t.Setenv("KIND_NODE_IMAGE", "example.com/node:v0")
	_, err := Up(t.Context(), filepath.Join(t.TempDir(), "kubeconfig"), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no such image anywhere") ||
		!strings.Contains(err.Error(), "KIND_NODE_IMAGE") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(asked(t, node), "pull example.com/node:v0") {
		t.Errorf("asked:\n%s", asked(t, node))
	}
}
