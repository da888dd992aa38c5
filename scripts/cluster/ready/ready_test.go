// Tests of the readiness checks against a server that answers as an API server would.

package ready

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiStub knows only the paths that it was given.
type apiStub struct {
	mu    sync.Mutex
	paths map[string]string
}

func (s *apiStub) set(path, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths[path] = body
}

func (s *apiStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.paths[r.URL.Path]
	switch {
	case r.Header.Get("Authorization") != "Bearer good":
		w.WriteHeader(http.StatusUnauthorized)
	case strings.HasPrefix(body, "[-]"):
		w.WriteHeader(http.StatusInternalServerError)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, body)
}

func kubeconfig(t *testing.T, server string, ca []byte, token string) string {
	t.Helper()
	c := api.NewConfig()
	c.Clusters["x"] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	c.AuthInfos["x"] = &api.AuthInfo{Token: token}
	c.Contexts["x"] = &api.Context{Cluster: "x", AuthInfo: "x"}
	c.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func start(t *testing.T) (*apiStub, *httptest.Server, []byte) {
	stub := &apiStub{paths: map[string]string{"/readyz": "ok"}}
	server := httptest.NewUnstartedServer(stub)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust it
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return stub, server, ca
}

const readyNode = `{"kind":"NodeList","apiVersion":"v1",
	"items":[{"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`

func never() error { return nil }

func TestWaitNamesWhatIsMissing(t *testing.T) {
	stub, server, ca := start(t)
	path := kubeconfig(t, server.URL, ca, "good")
	stub.set("/readyz", "[-]etcd failed: reason withheld")
	steps := []struct{ missing, path, body string }{
		{"a ready API server: [-]etcd", "/readyz", "ok"},
		{"a Ready node", "/api/v1/nodes", readyNode},
		{"the default service account", "/api/v1/namespaces/default/serviceaccounts/default",
			`{"kind":"ServiceAccount","apiVersion":"v1"}`},
		{"the ConfigMap kube-root-ca.crt", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
			`{"kind":"ConfigMap","apiVersion":"v1"}`},
	}
	for _, s := range steps {
		late := errors.New("too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, late)
		err := Wait(ctx, path, Pods, never)
		cancel()
		if !errors.Is(err, late) || !strings.Contains(err.Error(), s.missing) {
			t.Errorf("got %v, want that it misses %s", err, s.missing)
		}
		stub.set(s.path, s.body)
	}
	if err := Wait(t.Context(), path, Pods, never); err != nil {
		t.Error(err)
	}
}

func TestNodeNeedsNothingThatControllersMake(t *testing.T) {
	stub, server, ca := start(t)
	path := kubeconfig(t, server.URL, ca, "good")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := Wait(ctx, path, Node, never); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "a Ready node") {
		t.Errorf("got %v, want that it misses a Ready node", err)
	}
	stub.set("/api/v1/nodes", readyNode)
	if err := Wait(t.Context(), path, Node, never); err != nil {
		t.Error(err)
	}
}

func TestWaitEndsWhenItIsHopeless(t *testing.T) {
	_, server, ca := start(t)
	dead := errors.New("dead")
	asked := 0
	err := Wait(t.Context(), kubeconfig(t, server.URL, ca, "good"), Node, func() error {
		if asked++; asked < 3 {
			return nil
		}
		return dead
	})
	if err != dead {
		t.Errorf("got %v", err)
	}
}

func TestAnswers(t *testing.T) {
	_, server, ca := start(t)
	good := kubeconfig(t, server.URL, ca, "good")
	if err := Answers(t.Context(), good); err != nil {
		t.Error(err)
	}
	missing := filepath.Join(t.TempDir(), "none")
	if err := Answers(t.Context(), missing+string(filepath.ListSeparator)+good); err != nil {
		t.Errorf("a list of files, one missing: %v", err)
	}

	hole, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	closed := httptest.NewTLSServer(nil)
	closed.Close()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, want string }{
		"no file":          {missing, "no such file"},
		"empty file":       {empty, "invalid configuration"},
		"refused token":    {kubeconfig(t, server.URL, ca, "bad"), "unauthorized"},
		"foreign CA":       {kubeconfig(t, server.URL, nil, "good"), "certificate"},
		"nobody listening": {kubeconfig(t, closed.URL, ca, "good"), "refused"},
		"no answer":        {kubeconfig(t, "https://"+hole.Addr().String(), ca, "good"), "no answer within 5s"},
	} {
		begin := time.Now()
		err := Answers(t.Context(), c.path)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}
